import { type ClaimName, type ClaimValue, claimNames } from '../../../contracts/claims.ts';

const day = 86_400_000;
const usual = 365 * day;
/** Time alone turns "not yet 18" into "18": such an answer is asked for again soon, whatever is configured. */
export const notYetLifetimeMs = day;

/** A claim as it is kept of a user. */
export interface KeptClaim {
  value: ClaimValue;
  evaluatedAt: Date;
}

/** Milliseconds that claims hold, where it is not 365 days. */
export type Lifetimes = Partial<Record<ClaimName | 'default', number>>;

/** Milliseconds after which no claim holds any more: the longest lifetime of all. */
export function longestLifetime(lifetimes: Lifetimes = {}): number {
  return Math.max(...claimNames.map((name) => lifetimes[name] ?? lifetimes.default ?? usual));
}

/**
 * Whether a claim that was evaluated then still holds at `now`; one that came to null counts as evaluated.
 * @param maxAge milliseconds that it holds at most, whatever its own lifetime
 */
export type IsFresh = (
  name: ClaimName,
  claim: KeptClaim | undefined,
  now: number,
  maxAge?: number,
) => boolean;

export function createFreshness(lifetimes: Lifetimes = {}): IsFresh {
  return (name, claim, now, maxAge = Number.POSITIVE_INFINITY) => {
    if (!claim) return false;
    const configured = lifetimes[name] ?? lifetimes.default ?? usual;
    const isNotYet = name.startsWith('age_') && claim.value === false;
    const lifetime = isNotYet ? Math.min(configured, notYetLifetimeMs) : configured;
    return now - claim.evaluatedAt.getTime() < Math.min(lifetime, maxAge);
  };
}
