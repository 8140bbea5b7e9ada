import type { Logger } from '../../platform/telemetry/logging.ts';
import { type Capacity, createConcurrencyLimiter, type Limits } from './concurrency-limits.ts';
import type { Lane, Leased } from './delivery.ts';

/** Leased deliveries of an endpoint. */
export interface LeaseResult {
  leased: Leased[];
  /** How many deliveries it tried to lease. Other processes may have leased some of them, or all. */
  tried: number;
  /** Whether other deliveries of the endpoint may be due. */
  more: boolean;
}

interface Settings {
  /** Leases due deliveries of an endpoint. */
  lease: (capacity: Capacity) => Promise<LeaseResult>;
  /** Sends one attempt and records the result. */
  sendAttempt: (delivery: Leased) => Promise<void>;
  logger: Pick<Logger, 'warn'>;
  limits: Limits;
}

const retryLeaseAfterMs = 1000;
/** After this time, a held endpoint is tried again, because another process may have ended its pause. */
const longestHoldMs = 2_000;

/**
 * Sends due deliveries. After a notification, as many deliveries are leased as the endpoint has free slots. When a slot
 * becomes free, the next delivery is leased. Deliveries wait in the database, not in memory.
 */
export function createDispatcher({ lease, sendAttempt, logger, limits }: Settings) {
  const limiter = createConcurrencyLimiter(limits);
  /** Endpoints that may have due deliveries. */
  const maybeDue = new Set<string>();
  const leasing = new Set<string>();
  /** Endpoints that wait for a slot of the pool, in order. */
  const waitingForPool = new Set<string>();
  /** Endpoints that wait for a retry slot of the pool, in order. */
  const waitingForRetrySlot = new Set<string>();
  const running = new Set<Promise<void>>();
  /** The endpoint of each slot that became free in this turn of the event loop. */
  let freed: string[] = [];
  /** Paused endpoints, with the time by `performance.now()` until which nothing is leased for them. */
  const held = new Map<string, number>();
  /** Slots that leases under way may fill, so that other leases do not count on them. */
  let reservedSlots = 0;
  let isStopped = false;

  function track(work: Promise<void>): void {
    running.add(work);
    void work.finally(() => running.delete(work));
  }

  function isHeld(keyId: string): boolean {
    const until = held.get(keyId);
    if (until === undefined) return false;
    if (until > performance.now()) return true;
    held.delete(keyId);
    return false;
  }

  /** Leases deliveries of an endpoint, if some may be due and a slot is free. */
  function leaseIfFree(keyId: string): void {
    if (isStopped || leasing.has(keyId) || !maybeDue.has(keyId) || isHeld(keyId)) return;
    const capacity = limiter.capacityOf(keyId, reservedSlots);
    if (capacity.slots > 0) {
      track(leaseAndRun(capacity));
      return;
    }
    // A full endpoint leases again when one of its own attempts ends. In a full pool, another endpoint may have to free a slot.
    const isPoolFull = limiter.inFlight() + reservedSlots >= limits.pool;
    if (isPoolFull) waitingForPool.add(keyId);
  }

  /** Leases deliveries. @returns undefined if that failed */
  async function tryLease(capacity: Capacity): Promise<LeaseResult | undefined> {
    try {
      return await lease(capacity);
    } catch (error) {
      logger.warn({ err: error, keyId: capacity.keyId }, 'deliveries could not be leased');
      return undefined;
    }
  }

  /** Leases deliveries of an endpoint, up to its capacity, and sends them. After a fault, tries again a second later. */
  async function leaseAndRun(capacity: Capacity): Promise<void> {
    const { keyId } = capacity;
    leasing.add(keyId);
    // A notification during the lease adds the endpoint again.
    maybeDue.delete(keyId);
    waitingForRetrySlot.delete(keyId);
    reservedSlots += capacity.slots;
    const result = await tryLease(capacity);
    // From here until `run` has taken the slots, nothing may be awaited. Else another lease would take the same slots.
    reservedSlots -= capacity.slots;
    leasing.delete(keyId);
    if (result) {
      runLeased(result, capacity);
    } else {
      maybeDue.add(keyId);
      setTimeout(leaseIfFree, retryLeaseAfterMs, keyId).unref();
    }
  }

  /**
   * Takes a slot of an endpoint for a first attempt that is stored under its lease next.
   * @returns a function that sends it, or that frees the slot if nothing was stored. Undefined if the attempt has to wait: no
   * slot is free, the endpoint is paused, or other deliveries wait before it
   */
  function reserve(keyId: string): ((delivery: Leased | undefined) => void) | undefined {
    const isFirst = !maybeDue.has(keyId) && !leasing.has(keyId) && waitingForPool.size === 0;
    if (isStopped || !isFirst || isHeld(keyId)) return undefined;
    if (limiter.capacityOf(keyId, reservedSlots).slots === 0) return undefined;
    limiter.take(keyId, 'first');
    let end: () => void = () => undefined;
    // A stop waits until the delivery is stored and sent.
    track(
      new Promise((resolve) => {
        end = resolve;
      }),
    );
    return (delivery) => {
      if (delivery) track(run(delivery));
      else freeSlot(keyId, 'first');
      end();
    };
  }

  /** Sends the deliveries of a lease. Leases again if that may find further deliveries. */
  function runLeased({ leased, tried, more }: LeaseResult, { keyId, retries }: Capacity): void {
    for (const delivery of leased) {
      limiter.take(keyId, delivery.lane);
      track(run(delivery));
    }
    const wasNotified = maybeDue.has(keyId);
    if (more) maybeDue.add(keyId);
    // Without a free retry slot, the lease left all retries, and may have left nothing else.
    if (more && retries === 0) waitingForRetrySlot.add(keyId);
    // A lease that found nothing to try is repeated only if it may have missed the deliveries of a notification.
    if (wasNotified || tried > 0) leaseIfFree(keyId);
    resumeWaiting();
  }

  /** Sends a delivery, and frees its slot when its attempt has ended. */
  async function run(delivery: Leased): Promise<void> {
    try {
      await sendAttempt(delivery);
    } catch (error) {
      logger.warn({ err: error, deliveryId: delivery._id }, 'an attempt could not be sent');
    } finally {
      freeSlot(delivery.keyId, delivery.lane);
    }
  }

  function freeSlot(keyId: string, lane: Lane): void {
    limiter.free(keyId, lane);
    leaseFreed(keyId);
  }

  /**
   * Leases again at the end of this turn of the event loop. Attempts whose results were written together end in one turn, so one
   * lease can use all their slots.
   */
  function leaseFreed(keyId: string): void {
    if (freed.length === 0) setImmediate(leaseAllFreed);
    freed.push(keyId);
  }

  function leaseAllFreed(): void {
    const keyIds = freed;
    freed = [];
    for (const keyId of keyIds) {
      leaseIfFree(keyId);
      resumeWaiting();
    }
  }

  /** Continues with one endpoint that waits for the pool, and one that waits for a retry slot: one free slot serves no more. */
  function resumeWaiting(): void {
    const [forPool] = waitingForPool;
    if (forPool !== undefined) {
      waitingForPool.delete(forPool);
      leaseIfFree(forPool);
    }
    for (const keyId of waitingForRetrySlot) {
      if (limiter.capacityOf(keyId, reservedSlots).retries > 0) {
        waitingForRetrySlot.delete(keyId);
        leaseIfFree(keyId);
        return;
      }
    }
  }

  return {
    reserve,
    /** Leases and sends the deliveries of these keys that are due. */
    notify(keyIds: readonly string[]): void {
      for (const keyId of keyIds) {
        maybeDue.add(keyId);
        leaseIfFree(keyId);
      }
    },
    /** Leases nothing for a paused endpoint for `ms` milliseconds, at most 2 s. A later notification tries again. */
    hold(keyId: string, ms: number): void {
      // The delivery that was given back is sent before those that are published meanwhile.
      maybeDue.add(keyId);
      held.set(keyId, performance.now() + Math.min(ms, longestHoldMs));
    },
    /** Ends `hold` early. */
    release: (keyId: string): void => void held.delete(keyId),
    inFlight: limiter.inFlight,
    /** Stops leasing, and resolves when all attempts in flight are recorded. */
    async stop(): Promise<void> {
      isStopped = true;
      while (running.size > 0) await Promise.allSettled([...running]);
    },
  };
}
