import type { Lane } from './delivery.ts';

/** The most attempts that a process has in flight: for one endpoint, and in all. */
export interface Limits {
  perEndpoint: number;
  pool: number;
}

/** Even if 200 endpoints do not respond and each takes its 5 slots, 24 of the 1,024 slots are free for others. */
export const defaultLimits: Limits = { perEndpoint: 5, pool: 1024 };

/** How many attempts an endpoint can start now. */
export interface Capacity {
  keyId: string;
  slots: number;
  /** How many of them may be other than first attempts. */
  retries: number;
  /** The lane that is served first. */
  prefer: Lane;
}

export type InFlight = Record<Lane, number>;
export const noneInFlight: Readonly<InFlight> = { first: 0, retry: 0 };

/**
 * The limits of retries. One slot of each endpoint and a quarter of the pool stay free for first attempts. One retry is always
 * possible, even with the smallest limits.
 */
export const retryLimits = ({ perEndpoint, pool }: Limits): Limits => ({
  perEndpoint: Math.max(1, perEndpoint - 1),
  pool: Math.max(1, Math.floor(pool * 0.75)),
});

/**
 * Counts attempts in flight. Retries never take an endpoint's last slot or the last quarter of the pool, so first attempts
 * can always use them. If an endpoint has no retry in flight, a due retry goes first, so that first attempts cannot hold all
 * retries up.
 */
export function createConcurrencyLimiter({ perEndpoint, pool }: Limits) {
  const endpoints = new Map<string, InFlight>();
  const all = { ...noneInFlight };
  const retryLimit = retryLimits({ perEndpoint, pool });

  function count(keyId: string, lane: Lane, change: 1 | -1): void {
    const endpoint = endpoints.get(keyId) ?? { ...noneInFlight };
    endpoint[lane] += change;
    all[lane] += change;
    if (endpoint.first + endpoint.retry === 0) endpoints.delete(keyId);
    else endpoints.set(keyId, endpoint);
  }

  return {
    /** The capacity of an endpoint. @param reserved how many slots of the pool are reserved for other endpoints */
    capacityOf(keyId: string, reserved: number): Capacity {
      const endpoint = endpoints.get(keyId) ?? noneInFlight;
      const freeInPool = pool - all.first - all.retry - reserved;
      const freeOfEndpoint = perEndpoint - endpoint.first - endpoint.retry;
      const slots = Math.max(0, Math.min(freeOfEndpoint, freeInPool));
      const retries = Math.min(
        retryLimit.perEndpoint - endpoint.retry,
        retryLimit.pool - all.retry - reserved,
      );
      return {
        keyId,
        slots,
        retries: Math.max(0, Math.min(slots, retries)),
        prefer: endpoint.retry === 0 ? 'retry' : 'first',
      };
    },
    take: (keyId: string, lane: Lane) => count(keyId, lane, 1),
    free: (keyId: string, lane: Lane) => count(keyId, lane, -1),
    inFlight: (): number => all.first + all.retry,
  };
}
