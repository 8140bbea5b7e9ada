/** Each step of the server with a point before and after it, where a process can be killed. */
const steps = [
  // Money: the read of the session, and inserts of ledger pages by their entries
  'session',
  'page',
  'funding',
  'refund',
  'caps',
  'fence',
  'answer',
  // Hand-overs: at the process that hands over, and at the wallet's writer
  'hand-over',
  'take-over',
  // The outbox of the ledger: its events, then the removal of `unpublished`
  'event',
  'unset',
  // Webhooks
  'delivery',
  'lease',
  'post',
  'record',
] as const;
export type Step = (typeof steps)[number];
export type KillPoint = `${Step}:${'before' | 'after'}`;

export const killPointNames = steps.flatMap((step): KillPoint[] => [`${step}:before`, `${step}:after`]);

/** The time of a fault, and the affected process: this one, or `victim` (the database's). */
export type Armed = {
  point: KillPoint;
  /** The arrival at the point that triggers it: 1 is the next one. */
  hit: number;
  victim?: number | undefined;
  /**
   * SIGSTOP pauses the process until SIGCONT. `part`: the suite disconnects its private listener. `set clock`: by an
   * hour.
   */
  signal: 'SIGKILL' | 'SIGSTOP' | 'part' | 'set clock';
  /** The time from which arrivals count. */
  from: 'now' | 'SIGTERM';
};

/** Milliseconds in which the suite has disconnected the process. */
const partedWithin = 50;

/**
 * The kill points of this process. None has an effect until it is armed.
 * @param names from SVC_FAULT: the points that may be armed, by default none
 * @param report resolves when the suite knows that the fault is about to occur
 * @param setClock sets the wall clock of this process
 */
export function createKillPoints(
  names: ReadonlySet<string>,
  report: () => Promise<void>,
  setClock: () => void,
) {
  let armed: Armed | undefined;
  let left = 0;

  async function hurt({ victim, signal }: Armed): Promise<void> {
    if (signal === 'set clock') setClock();
    if (signal === 'set clock' || signal === 'part') {
      await report();
      // The code after the point runs with the fault.
      return new Promise((resolve) => setTimeout(resolve, signal === 'part' ? partedWithin : 0));
    }
    if (victim === undefined) {
      if (signal === 'SIGSTOP') await report();
      process.kill(process.pid, signal);
      return;
    }
    await report();
    process.kill(victim, signal);
    // The code after the point does not run, because the process has ended.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }

  return {
    /** @throws for a point that SVC_FAULT does not contain */
    arm(next: Armed): void {
      if (!names.has(next.point)) throw new Error(`SVC_FAULT does not name ${next.point}`);
      armed = next;
      left = next.from === 'now' ? next.hit : 0;
    },
    /** Call this when the process is asked to stop. */
    terminating(): void {
      if (armed?.from === 'SIGTERM') left = armed.hit;
    },
    async at(reached: KillPoint): Promise<void> {
      if (reached !== armed?.point || left === 0) return;
      left -= 1;
      if (left === 0) await hurt(armed);
    },
  };
}
export type KillPoints = ReturnType<typeof createKillPoints>;
