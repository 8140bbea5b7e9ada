import type { Random } from './random.ts';

/**
 * Virtual time. Events happen one at a time, in the order of a queue, and each belongs to an actor. The code under test runs
 * to its next wait within one event. Events of a crashed actor are dropped; those of a paused actor wait until it resumes.
 */

export interface Actor {
  name: string;
  alive: boolean;
  /** The virtual time in milliseconds. */
  pausedUntil: number;
  /** Whether events of the actor resolve no promise, so that the next event need not wait for promises. */
  passive: boolean;
}

export const createActor = (name: string, { passive = false } = {}): Actor => ({
  name,
  alive: true,
  pausedUntil: 0,
  passive,
});

interface Event {
  time: number;
  order: number;
  actor: Actor;
  run: () => void;
  cancelled: boolean;
}

const before = (a: Event, b: Event) => a.time < b.time || (a.time === b.time && a.order < b.order);

/** Creates a binary heap: the earliest event first, and simultaneous events in the order in which they were queued. */
function createQueue() {
  const heap: Event[] = [];

  function swap(i: number, j: number): void {
    const [a, b] = [heap[i], heap[j]];
    if (a && b) [heap[i], heap[j]] = [b, a];
  }

  function isBefore(i: number, j: number): boolean {
    const [a, b] = [heap[i], heap[j]];
    return a !== undefined && b !== undefined && before(a, b);
  }

  function sink(): void {
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const child = isBefore(right, left) ? right : left;
      if (!isBefore(child, at)) return;
      swap(at, child);
      at = child;
    }
  }

  return {
    first: () => heap[0],
    push(event: Event): void {
      heap.push(event);
      for (let at = heap.length - 1; at > 0; ) {
        const parent = (at - 1) >> 1;
        if (!isBefore(at, parent)) return;
        swap(at, parent);
        at = parent;
      }
    },
    pop(): void {
      swap(0, heap.length - 1);
      heap.pop();
      sink();
    },
  };
}

/** The number of events at which a run fails, because so many indicate an endless loop. */
const largestEventCount = 200_000;

/**
 * A turn of the real event loop, saved before the timers are replaced. After it, all possible promises have settled.
 */
const afterPromises = globalThis.setImmediate;

export function createSchedule(start: number, random: Random) {
  const queue = createQueue();
  let now = start;
  let order = 0;
  let count = 0;
  let current: Actor | undefined;

  function after(delay: number, actor: Actor, run: () => void): Event {
    if (delay < 0) throw new Error(`time does not go back: ${actor.name} schedules ${delay} ms ahead`);
    order += 1;
    const event = { time: now + delay, order, actor, run, cancelled: false };
    queue.push(event);
    return event;
  }

  /** Takes the next event that is not dropped; undefined if there is none until `until`. */
  function take(until: number): Event | undefined {
    for (;;) {
      const event = queue.first();
      if (!event || event.time > until) return undefined;
      queue.pop();
      if (event.cancelled || !event.actor.alive) continue;
      if (event.actor.pausedUntil <= event.time) return event;
      // A resumed process handles messages from the pause in random order.
      event.time = event.actor.pausedUntil + random.between(0, 5);
      queue.push(event);
    }
  }

  return {
    now: () => now,
    /** Returns the actor of the present event. */
    current: () => current,
    after,

    /** Runs all events until `until`, or until the queue is empty. */
    run(until = Number.POSITIVE_INFINITY): Promise<void> {
      return new Promise((resolve, reject) => {
        function turn(): void {
          try {
            for (let event = take(until); event; event = take(until)) {
              count += 1;
              if (count > largestEventCount) throw new Error('the schedule does not come to an end');
              now = event.time;
              current = event.actor;
              event.run();
              if (!event.actor.passive) {
                afterPromises(turn);
                return;
              }
            }
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
            return;
          }
          current = undefined;
          if (Number.isFinite(until)) now = Math.max(now, until);
          resolve();
        }
        afterPromises(turn);
      });
    },

    sleep: (delay: number, actor: Actor) =>
      new Promise<void>((resolve) => {
        after(delay, actor, resolve);
      }),
  };
}
export type Schedule = ReturnType<typeof createSchedule>;
