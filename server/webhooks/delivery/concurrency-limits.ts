import type { Lane } from './delivery.ts';

/** At most this many attempts in flight: per endpoint, and in all; per process. */
export interface Limits {
  perEndpoint: number;
  pool: number;
}

/** Enough for two hundred endpoints that hang with all their slots, beside all others. */
export const defaultLimits: Limits = { perEndpoint: 5, pool: 1024 };

/** How many deliveries an endpoint has room for. */
export interface Room {
  keyId: string;
  slots: number;
  /** How many of them may be other than first attempts. */
  retries: number;
  /** The lane that gets the odd slot. */
  prefer: Lane;
}

export type InFlight = Record<Lane, number>;

/** How many of them may be other than first attempts. */
export const retryLimits = ({ perEndpoint, pool }: Limits): Limits => ({
  perEndpoint: Math.max(1, perEndpoint - 1),
  pool: Math.max(1, Math.floor(pool * 0.75)),
});

/**
 * Counts what is in flight. Retries never take an endpoint's last slot, nor the last quarter of the pool, so that
 * there is room for a first attempt always; and where no retry is in flight, one that is due goes before.
 */
export function createSlots({ perEndpoint, pool }: Limits) {
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
    /** What the endpoint could take now, where `reserved` slots of the pool are already promised to others. */
    room(keyId: string, reserved: number): Room {
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
