import type { Lane } from './delivery.ts';

/** At most this many attempts in flight: per endpoint, and in all; per process. */
export interface Limits {
  perEndpoint: number;
  pool: number;
}

/** Two hundred endpoints can hang with all their slots, and others still have slots. */
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

/** How many of them may be other than first attempts. */
export const retryLimits = ({ perEndpoint, pool }: Limits): Limits => ({
  perEndpoint: Math.max(1, perEndpoint - 1),
  pool: Math.max(1, Math.floor(pool * 0.75)),
});

/**
 * Counts attempts in flight. Retries never take an endpoint's last slot, nor the last quarter of the pool, which first
 * attempts can always use. Where no retry is in flight, a due retry goes first.
 */
export function createConcurrencyLimiter({ perEndpoint, pool }: Limits) {
  const endpoints = new Map<string, InFlight>();
  const all: InFlight = { first: 0, retry: 0 };
  const retryLimit = retryLimits({ perEndpoint, pool });

  function add(keyId: string, lane: Lane, by: 1 | -1): void {
    const endpoint = endpoints.get(keyId) ?? { first: 0, retry: 0 };
    endpoint[lane] += by;
    all[lane] += by;
    if (endpoint.first + endpoint.retry === 0) endpoints.delete(keyId);
    else endpoints.set(keyId, endpoint);
  }

  return {
    /** The capacity of an endpoint, while `reserved` slots of the pool belong to others. */
    capacityOf(keyId: string, reserved: number): Capacity {
      const own = endpoints.get(keyId) ?? { first: 0, retry: 0 };
      const free = pool - all.first - all.retry - reserved;
      const slots = Math.max(0, Math.min(perEndpoint - own.first - own.retry, free));
      const retries = Math.min(retryLimit.perEndpoint - own.retry, retryLimit.pool - all.retry - reserved);
      return {
        keyId,
        slots,
        retries: Math.max(0, Math.min(slots, retries)),
        prefer: own.retry === 0 ? 'retry' : 'first',
      };
    },
    take: (keyId: string, lane: Lane) => add(keyId, lane, 1),
    free: (keyId: string, lane: Lane) => add(keyId, lane, -1),
    inFlight: (): number => all.first + all.retry,
  };
}
