import { randomBytes } from 'node:crypto';
import { createGroupCommit } from '../../platform/batching/group-commit.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Read } from '../../platform/database/reads/joint-reads.ts';
import type { Scheduler } from '../../platform/jobs/scheduler.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import type { Recorded } from './attempt.ts';
import { createBacklog, type Limits, type Turn } from './backlog.ts';
import type { Delivery, Leased } from './delivery.ts';
import { type DeliveryStore, type Lease, sweepReads } from './delivery-store.ts';
import { createDueJobs, dueBucket } from './due-job.ts';

interface Settings {
  deliveries: Pick<DeliveryStore, 'due' | 'lease' | 'recover' | 'dueByKey' | 'dueTimes' | 'dueSeconds'>;
  /** Makes one attempt and records its result. */
  attempt: (delivery: Leased) => Promise<Recorded>;
  scheduler: Scheduler;
  clock: Pick<Clock, 'now'>;
  logger: Pick<Logger, 'warn'>;
  limits: Limits;
  /** Milliseconds until another process may send the same attempt. */
  leaseTime: number;
  /** Whether this process sends deliveries. */
  worker: boolean;
  /** Whether another process sends deliveries too. */
  othersSend: () => Promise<boolean>;
}

const retryLeaseAfterMs = 1_000;
/** After this time, a paused endpoint is tried again, because another process may have ended its pause. */
const longestHoldMs = 2_000;
/** When a pause is ended early, other processes notice it within this many milliseconds. */
const resumedElsewhereMs = 3_000;
/** A sweep creates jobs for this many milliseconds ahead: twice the time between sweeps. */
const jobHorizonMs = 30_000;

export type Due = ReturnType<typeof createDue>;

/**
 * Sends what is due. Deliveries wait in the database, and this process knows some of them (`createBacklog`). It leases as many as
 * their endpoints have free slots, and attempts them. For later times it makes jobs: one for each second, so that all processes
 * that send share its attempts.
 */
export function createDue(settings: Settings) {
  const { deliveries, attempt, clock, logger, worker } = settings;
  const now = () => new Date(clock.now());
  const backlog = createBacklog({
    limits: settings.limits,
    find: (keyId, lane, limit) => deliveries.due(keyId, lane, { now: now(), limit }),
  });
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  let isWoken = false;

  function track(work: Promise<void>): void {
    running.add(work);
    void work.finally(() => running.delete(work));
  }

  /**
   * Leases for all endpoints that can, at the end of this turn of the event loop. Attempts whose results were written together
   * end in one turn, so one lease can use all their slots.
   */
  function wake(): void {
    if (isWoken) return;
    isWoken = true;
    setImmediate(() => {
      isWoken = false;
      if (stopping.signal.aborted) return;
      for (const turn of backlog.turns()) track(leaseAndSend(turn));
    });
  }

  async function leaseAndSend(turn: Turn): Promise<void> {
    const leased = await lease(turn);
    // Until all of them have a slot, nothing may be awaited. Else another lease would take the same slots.
    backlog.end(turn, leased);
    for (const delivery of leased) track(send(delivery));
    wake();
  }

  /** Leases due deliveries of an endpoint, up to its capacity. After a fault, tries again a second later. */
  async function lease(turn: Turn): Promise<Leased[]> {
    const { keyId } = turn.endpoint;
    try {
      const ids = await backlog.take(turn);
      return ids.length === 0 ? [] : await leaseTogether(ids);
    } catch (error) {
      logger.warn({ err: error, keyId }, 'deliveries could not be leased');
      backlog.hold(keyId, retryLeaseAfterMs);
      setTimeout(release, retryLeaseAfterMs, keyId).unref();
      return [];
    }
  }

  function newLease(): Lease {
    const at = now();
    const until = new Date(at.getTime() + settings.leaseTime);
    return { token: randomBytes(16).toString('base64url'), now: at, until };
  }

  /** Leases deliveries, for several endpoints in one update. Each call gets those of its deliveries that are leased now. */
  const leaseTogether = createGroupCommit<readonly string[], Leased[]>({
    run: async (idsOfCalls) => {
      const leased = await deliveries.lease(idsOfCalls.flat(), newLease());
      const byId = new Map(leased.map((delivery) => [delivery._id, delivery]));
      // A delivery may be named twice: it was known as a first attempt, and a query has found its retry.
      const takeOnce = (id: string): Leased[] => {
        const delivery = byId.get(id);
        byId.delete(id);
        return delivery ? [delivery] : [];
      };
      return idsOfCalls.map((ids) => ids.flatMap(takeOnce));
    },
  });

  /** Attempts a delivery, frees its slot, and arranges what follows. */
  async function send(delivery: Leased): Promise<void> {
    const { _id: deliveryId, keyId } = delivery;
    try {
      const { dueAt, pausedUntil } = await attempt(delivery);
      if (pausedUntil) backlog.hold(keyId, Math.min(pausedUntil.getTime() - clock.now(), longestHoldMs));
      if (dueAt) await retryAt(dueAt);
    } catch (error) {
      logger.warn({ err: error, deliveryId }, 'an attempt could not be sent');
    } finally {
      free(delivery);
    }
  }

  function free({ keyId, lane }: Delivery): void {
    backlog.free(keyId, lane);
    wake();
  }

  const dueJobs = createDueJobs({ ...settings, dueTimes: deliveries.dueTimes });
  /** Makes one job for all calls of the same second. */
  const schedule = createGroupCommit<Date, undefined>({
    run: async (dates) => {
      const seconds = new Set(dates.map((date) => dueBucket(date).getTime()));
      await Promise.all([...seconds].map((second) => dueJobs.at(new Date(second))));
      return dates.map(() => undefined);
    },
  });

  // A call has no input, so the item `due` only makes the call a part of the batch.
  const shareQuery = createGroupCommit<'due', number>({
    run: async (calls) => {
      // Other processes may have stored deliveries that this process does not know.
      const { count, byKey } = await deliveries.dueByKey(now());
      for (const [keyId, ids] of byKey) backlog.found(keyId, ids);
      wake();
      return calls.map(() => count);
    },
  });
  /** Sends all due deliveries. Calls that arrive during a query share the next one. @returns how many were due, at least */
  const sendDue = (): Promise<number> => shareQuery('due');

  /** Makes attempts that are due at these times be sent then: by a job of each second, and by this process if some are due. */
  async function retryAt(...times: readonly Date[]): Promise<void> {
    const at = now();
    const isDue = worker && times.some((time) => time <= at);
    await Promise.all([...times.map(schedule), isDue && sendDue()]);
  }

  function release(keyId: string): void {
    backlog.release(keyId);
    wake();
  }

  /** Creates jobs for waiting deliveries that have none, because a process ended between storing them and creating the job. */
  async function scheduleDueSeconds(): Promise<void> {
    const currentSecond = dueBucket(now());
    const seconds = await deliveries.dueSeconds(currentSecond, new Date(clock.now() + jobHorizonMs));
    // A worker's own sweep sends deliveries of earlier seconds. Any other process creates a job, so that a worker does it.
    const overdue = worker ? [] : await deliveries.dueTimes(new Date(0), currentSecond, 1);
    if (overdue.length > 0) seconds.push(currentSecond);
    await Promise.all(seconds.map(dueJobs.repair));
  }

  dueJobs.define(sendDue, stopping.signal);

  return {
    newLease,

    /** Takes a slot for a first attempt that is stored under its lease next. @returns false if the attempt has to wait */
    claim: (keyId: string): boolean => worker && !stopping.signal.aborted && backlog.claim(keyId),

    /**
     * Sends first attempts that have claimed their slots, when they are stored.
     * @param stored the ids of the deliveries that are stored under this lease. The slots of the others become free
     */
    sendStored(leased: readonly Leased[], stored: Promise<ReadonlySet<string>>): void {
      // Without an acknowledgement, the lease of a stored delivery runs out, and recovery sends it.
      const ids = stored.catch(() => new Set<string>());
      for (const delivery of leased)
        track(ids.then((own) => (own.has(delivery._id) ? send(delivery) : free(delivery))));
    },

    /** Sends stored deliveries that are due, and schedules the others. A process that sends nothing schedules all of them. */
    async stored(documents: readonly Delivery[]): Promise<void> {
      const at = now();
      const laterTimes: Date[] = [];
      for (const { _id, keyId, lane, nextAttemptAt } of documents) {
        // A delivery that was skipped when it was made is never due.
        if (!nextAttemptAt) continue;
        if (worker && nextAttemptAt <= at) backlog.add(keyId, lane, _id);
        else laterTimes.push(nextAttemptAt);
      }
      wake();
      await retryAt(...laterTimes);
    },

    retryAt,

    /** Changes the time of a waiting job. @returns false if no such job waits */
    moveJob: dueJobs.move,

    /** Sends what waits for an endpoint whose pause has ended. Other processes notice the end of the pause a little later. */
    async resume(keyId: string): Promise<void> {
      if (worker) release(keyId);
      // By then, the other processes have noticed the end of the pause. The job makes one of them send, too.
      await schedule(new Date(clock.now() + resumedElsewhereMs));
    },

    /** The look of the sweep. */
    reads: (): Read[] => sweepReads(now(), new Date(clock.now() + jobHorizonMs)),

    /** Continues the work of processes that have ended, sends what is due, and repairs jobs. */
    async sweep(): Promise<void> {
      const recovered = await deliveries.recover(now());
      if (recovered > 0) logger.warn({ recovered }, 'webhook attempts were interrupted and are made again');
      if (worker) await sendDue();
      await scheduleDueSeconds();
    },

    /** Stops leasing, and resolves when all attempts in flight are recorded. */
    async stop(): Promise<void> {
      stopping.abort();
      while (running.size > 0) await Promise.allSettled([...running]);
    },
  };
}
