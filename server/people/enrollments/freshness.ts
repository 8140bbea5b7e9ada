import { type ClaimName, type ClaimValue, claimNames } from '../../../contracts/claims.ts';
import { defaultClaimLifetimeMs } from '../../platform/config/source-config.ts';
import type { Session } from '../../sessions/session.ts';
import { claimsAskedFor } from '../../sessions/steps.ts';

const day = 86_400_000;
/** The lifetime of a negative age claim: it can become true on any day. Configuration cannot make it longer. */
export const notYetLifetimeMs = day;

/** A claim as a user's record stores it. */
export interface KeptClaim {
  value: ClaimValue;
  evaluatedAt: Date;
}
export type KeptClaims = Partial<Record<ClaimName, KeptClaim>>;

/** Configured lifetimes of claims, in milliseconds. The default is 365 days. */
export type Lifetimes = Partial<Record<ClaimName | 'default', number>>;

/** The longest lifetime of all claims, in milliseconds. */
export function longestLifetime(lifetimes: Lifetimes = {}): number {
  return Math.max(
    ...claimNames.map((name) => lifetimes[name] ?? lifetimes.default ?? defaultClaimLifetimeMs),
  );
}

/**
 * Whether a claim is still fresh at `now`. A claim that was evaluated to null counts too.
 * @param maxAge the most milliseconds since the evaluation, whatever the claim's lifetime
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
    const configured = lifetimes[name] ?? lifetimes.default ?? defaultClaimLifetimeMs;
    const isNotYet = name.startsWith('age_') && claim.value === false;
    const lifetime = isNotYet ? Math.min(configured, notYetLifetimeMs) : configured;
    return now - claim.evaluatedAt.getTime() < Math.min(lifetime, maxAge);
  };
}

/**
 * Whether the user has every claim that a session asks for, and all of them are fresh. The client may have a limit of its
 * own for their age.
 * @param forMs milliseconds from now on for which they must stay fresh
 */
export type HasFreshClaims = (session: Session, user: { claims: KeptClaims }, forMs?: number) => boolean;

export const createHasFreshClaims =
  (isFresh: IsFresh, clock: { now(): number }): HasFreshClaims =>
  (session, { claims }, forMs = 0) =>
    claimsAskedFor(session).every((name) =>
      isFresh(name, claims[name], clock.now() + forMs, session.maxVerificationAge),
    );
