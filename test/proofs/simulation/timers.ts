import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import type { Random } from './random.ts';
import type { Schedule } from './schedule.ts';

/** Replaces the timer of `node:timers/promises`, also in modules that have imported it. */
function replacePromises(sleep: unknown): void {
  Object.assign(timersPromises, { setTimeout: sleep });
  syncBuiltinESMExports();
}

/**
 * Replaces the timers and the random numbers of the code under test. A timer belongs to the actor that sets it, and
 * ends with the actor.
 * @returns a function that restores the original timers and random numbers
 */
export function installTimers(schedule: Schedule, random: Random): () => void {
  const { setTimeout, clearTimeout, setImmediate } = globalThis;
  const original = { random: Math.random, sleep: timersPromises.setTimeout };

  function timer(run: () => void, delay: number) {
    const actor = schedule.current();
    if (!actor) throw new Error('a timer was set outside of the schedule');
    const event = schedule.after(delay, actor, run);
    const handle = { event, unref: () => handle };
    return handle;
  }

  Object.assign(globalThis, {
    setTimeout: (run: () => void, delay = 0) => timer(run, delay),
    clearTimeout(handle?: ReturnType<typeof timer>) {
      if (handle) handle.event.cancelled = true;
    },
    setImmediate: (run: () => void) => timer(run, 0),
  });
  replacePromises((delay: number) => new Promise((resolve) => void timer(() => resolve(undefined), delay)));
  Math.random = () => random.between(0, 1);
  return () => {
    Object.assign(globalThis, { setTimeout, clearTimeout, setImmediate });
    replacePromises(original.sleep);
    Math.random = original.random;
  };
}
