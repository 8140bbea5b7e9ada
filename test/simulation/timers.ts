import type { Schedule } from './schedule.ts';

/**
 * Puts the timers of the code under test on a schedule: a timer belongs to the actor that set it, and ends
 * with it. Returns what undoes that.
 */
export function installTimers(schedule: Schedule): () => void {
  const { setTimeout, clearTimeout, setImmediate } = globalThis;

  function timer(run: () => void, delay: number) {
    const actor = schedule.current();
    if (!actor) throw new Error('a timer was set outside of the schedule');
    const event = schedule.after(delay, actor, run);
    const handle = { event, unref: () => handle };
    return handle;
  }

  const simulated = {
    setTimeout: (run: () => void, delay = 0) => timer(run, delay),
    clearTimeout(handle?: ReturnType<typeof timer>) {
      if (handle) handle.event.cancelled = true;
    },
    setImmediate: (run: () => void) => timer(run, 0),
  };
  Object.assign(globalThis, simulated);
  return () => Object.assign(globalThis, { setTimeout, clearTimeout, setImmediate });
}
