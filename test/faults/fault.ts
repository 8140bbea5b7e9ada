/** Every place in the server where it, or its database, can be made to die: around these steps. */
const steps = [
  // Money
  'charge',
  'commit',
  'answer',
  'ledger',
  'release',
  'tombstone',
  'reversal',
  'reversal-row',
  // Webhooks
  'event',
  'delivery',
  'lease',
  'post',
  'record',
] as const;
export type Step = (typeof steps)[number];
export type FaultPoint = `${Step}:${'before' | 'after'}`;

export const faultPoints = steps.flatMap((step): FaultPoint[] => [`${step}:before`, `${step}:after`]);

/** When to strike, and whom: this process, or the `victim` (the database's). */
export type Armed = {
  point: FaultPoint;
  /** At the how-manieth time that the point is reached. */
  hit: number;
  victim?: number | undefined;
  /** From which moment on these times are counted. */
  from: 'now' | 'SIGTERM';
};

/**
 * The faults of this process. Nothing happens until one is armed; then the `hit`-th time that its point is reached
 * kills the victim.
 * @param points from SVC_FAULT: where this process can be struck, nowhere by default
 */
export function createFault(points: ReadonlySet<string>, tell: () => void) {
  let armed: Armed | undefined;
  let left = 0;

  return {
    /** @throws for a point that is not one of this process's */
    arm(fault: Armed): void {
      if (!points.has(fault.point)) throw new Error(`SVC_FAULT does not name ${fault.point}`);
      armed = fault;
      left = fault.from === 'now' ? fault.hit : 0;
    },
    /** To be called as the process is asked to stop. */
    terminating(): void {
      if (armed?.from === 'SIGTERM') left = armed.hit;
    },
    async at(reached: FaultPoint): Promise<void> {
      if (reached !== armed?.point || left === 0) return;
      left -= 1;
      if (left > 0) return;
      if (armed.victim === undefined) process.kill(process.pid, 'SIGKILL');
      else await killOther(armed.victim, tell);
    },
  };
}
export type Fault = ReturnType<typeof createFault>;

/** Waits a moment, so that what comes after the point meets a process that is gone. */
async function killOther(pid: number, tell: () => void): Promise<void> {
  tell();
  process.kill(pid, 'SIGKILL');
  await new Promise((resolve) => setTimeout(resolve, 5));
}
