import type { Logger } from '../../platform/logging.ts';
import { createSlots, defaultLimits, type Limits, type Room } from './concurrency-limits.ts';
import type { Leased } from './delivery.ts';

/** What an endpoint got. `more`: something may be left. */
export interface Grant {
  leased: Leased[];
  more: boolean;
}

interface Settings {
  /** Leases what is due for an endpoint that has room. */
  lease: (room: Room) => Promise<Grant>;
  /** Carries one attempt out, to its record; its failures are its own. */
  carryOut: (delivery: Leased) => Promise<void>;
  logger: Pick<Logger, 'warn'>;
  limits?: Limits;
}

const retryLeaseAfter = 1000;

/**
 * Sends what is due, endpoint by endpoint. An endpoint that was woken is asked for as much as it has free slots;
 * a slot that is freed asks again while something is left. What waits, waits in the database: nothing is queued here.
 */
export function createDispatcher({ lease, carryOut, logger, limits = defaultLimits }: Settings) {
  const slots = createSlots(limits);
  /** Endpoints that may have something due which was not leased yet. */
  const wanting = new Set<string>();
  const leasing = new Set<string>();
  /** Endpoints that found the pool full, in order. */
  const blocked = new Set<string>();
  /** Endpoints whose retries found the retries' part of the pool taken or promised, in order. */
  const waitingForRetrySlot = new Set<string>();
  const running = new Set<Promise<void>>();
  let reserved = 0;
  let stopped = false;

  function track(work: Promise<void>): void {
    running.add(work);
    void work.finally(() => running.delete(work));
  }

  function pump(keyId: string): void {
    if (stopped || leasing.has(keyId) || !wanting.has(keyId)) return;
    const room = slots.room(keyId, reserved);
    if (room.slots > 0) track(fill(room));
    else if (slots.inFlight() + reserved >= limits.pool) blocked.add(keyId);
  }

  async function fill(room: Room): Promise<void> {
    const { keyId } = room;
    leasing.add(keyId);
    wanting.delete(keyId);
    waitingForRetrySlot.delete(keyId);
    reserved += room.slots;
    let granted: Grant | undefined;
    try {
      granted = await lease(room);
    } catch (error) {
      logger.warn({ err: error, keyId }, 'deliveries could not be leased');
    }
    reserved -= room.slots;
    leasing.delete(keyId);
    if (!granted) {
      wanting.add(keyId);
      setTimeout(pump, retryLeaseAfter, keyId).unref();
      return;
    }
    for (const delivery of granted.leased) track(run(delivery));
    // Woken during the claim: look again. Due attempts but no free slot: wait for one.
    const again = wanting.has(keyId) || granted.leased.length > 0;
    if (granted.more) wanting.add(keyId);
    if (granted.more && room.retries === 0) waitingForRetrySlot.add(keyId);
    if (again) pump(keyId);
    makeWay();
  }

  async function run(delivery: Leased): Promise<void> {
    const { keyId, lane } = delivery;
    slots.take(keyId, lane);
    try {
      await carryOut(delivery);
    } catch (error) {
      logger.warn({ err: error, deliveryId: delivery._id }, 'an attempt could not be sent');
    } finally {
      slots.free(keyId, lane);
      pump(keyId);
      makeWay();
    }
  }

  /** Lets the next ones in that waited for room in the pool. */
  function makeWay(): void {
    const [next] = blocked;
    if (next !== undefined) {
      blocked.delete(next);
      pump(next);
    }
    for (const keyId of waitingForRetrySlot) {
      if (slots.room(keyId, reserved).retries === 0) continue;
      waitingForRetrySlot.delete(keyId);
      pump(keyId);
      break;
    }
  }

  return {
    /** Something may be due for these keys. */
    wake(keyIds: readonly string[]): void {
      for (const keyId of keyIds) {
        wanting.add(keyId);
        pump(keyId);
      }
    },
    inFlight: slots.inFlight,
    /** Leases nothing more, and resolves when what is in flight has ended and is written down. */
    async stop(): Promise<void> {
      stopped = true;
      while (running.size > 0) await Promise.allSettled([...running]);
    },
  };
}
