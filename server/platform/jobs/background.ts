import type { Db } from 'mongodb';
import { createJointReads } from '../database/reads/joint-reads.ts';

export type Background = ReturnType<typeof createBackground>;

/**
 * Brings the work together that a process repeats without a request. An idle process costs what its commands cost, and a command
 * costs about the same whether it does one read or several.
 */
export function createBackground(db: Db) {
  /** The timers of the work that waits, by its `wake`. */
  const waiting = new Map<() => void, NodeJS.Timeout>();

  function begin(): void {
    const woken = [...waiting];
    waiting.clear();
    for (const [wake, timer] of woken) {
      clearTimeout(timer);
      wake();
    }
  }

  return {
    /** Reads for such work. Reads of the same turn of the event loop share one command, and no request waits for them. */
    read: createJointReads(db),
    /**
     * Calls `wake` after `ms` milliseconds, or earlier, as soon as any other work begins. What they read then shares one command.
     * @returns a function that prevents the call
     */
    wakeWithin(ms: number, wake: () => void): () => void {
      waiting.set(wake, setTimeout(begin, ms).unref());
      return () => {
        clearTimeout(waiting.get(wake));
        waiting.delete(wake);
      };
    },
    /** Wakes all work that waits. Call this where work begins that cannot wait. */
    begin,
  };
}
