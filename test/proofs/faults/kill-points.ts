/** The steps of the server at which a process can be killed. Each step has a point before it and a point after it. */
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

/** When a fault occurs, and in which process: in this one, or in the process `victim`, the database. */
export type Armed = {
  point: KillPoint;
  /** The number of the arrival at the point that triggers the fault. The next arrival is 1. */
  hit: number;
  victim?: number | undefined;
  /**
   * What happens to the process. SIGSTOP pauses it until SIGCONT. `part`: the suite disconnects its private listener.
   * `set clock`: its wall clock is wrong by an hour.
   */
  signal: 'SIGKILL' | 'SIGSTOP' | 'part' | 'set clock';
  /** The time from which arrivals at the point count. */
  from: 'now' | 'SIGTERM';
};

/** The time limit in which the suite disconnects the process, in milliseconds. */
const partedWithin = 50;

/**
 * Creates the kill points of this process. A point has no effect until it is armed.
 * @param names the points of SVC_FAULT that may be armed. The default is none
 * @param report tells the suite that the fault is about to occur, and resolves when the suite knows it
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
    /** Arms a point. @throws if SVC_FAULT does not contain the point */
    arm(next: Armed): void {
      if (!names.has(next.point)) throw new Error(`SVC_FAULT does not name ${next.point}`);
      armed = next;
      left = next.from === 'now' ? next.hit : 0;
    },
    /** Starts to count arrivals if the fault is armed from SIGTERM on. Called when the process is asked to stop. */
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
