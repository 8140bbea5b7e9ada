import type { Clock } from '../platform/clock.ts';
import { ApiError } from '../platform/errors.ts';
import { randomSecret, sameText, sha256 } from '../platform/ids.ts';
import type { ClientSecret } from './client-store.ts';

/** The most secrets that are accepted at the same time: the current one, and the old ones that `--keep-old` keeps. */
const mostSecrets = 5;

/** Returns a new client secret and its stored form. @param now milliseconds since the epoch */
export function newClientSecret(now: number): { secret: string; stored: ClientSecret } {
  const secret = randomSecret('clientSecret');
  return { secret, stored: { hash: sha256(secret), last4: secret.slice(-4), createdAt: new Date(now) } };
}

/** A secret that is accepted until `expiresAt`, or without an end. */
interface Expiring {
  expiresAt?: Date;
}

/** Whether a secret is accepted at a time. @param now milliseconds since the epoch */
export const isLive = ({ expiresAt }: Expiring, now: number): boolean =>
  !expiresAt || expiresAt.getTime() > now;

/**
 * Returns the old secrets that stay accepted after a rotation. Each expires at `keepUntil` at the latest.
 * @param noun the kind of record that has the secrets
 * @throws ApiError `conflict` if too many secrets would be accepted at the same time
 */
export function keptSecrets<S extends object>(
  secrets: readonly (S & Expiring)[],
  { now, keepUntil }: { now: number; keepUntil: number },
  noun: 'client' | 'API key',
): (S & { expiresAt: Date })[] {
  const kept = secrets
    .map((secret) => {
      const expiresAt = new Date(Math.min(secret.expiresAt?.getTime() ?? keepUntil, keepUntil));
      return { ...secret, expiresAt };
    })
    .filter((secret) => isLive(secret, now));
  // The new secret counts too, so one old secret less may stay.
  if (kept.length < mostSecrets) return kept;
  throw new ApiError('conflict', {
    description: `Too many secrets of this ${noun} are still accepted; rotate without keeping the old ones`,
  });
}

export interface ClientSecrets {
  /** Whether the client accepts `secret` now. The time that this takes reveals nothing about the stored secrets. */
  matches(client: { _id: string; secrets: readonly ClientSecret[] }, secret: string): boolean;
}

interface Dependencies {
  clock: Pick<Clock, 'now'>;
  /** Called when the secret with this hash has identified a client. */
  used: (clientId: string, hash: string, lastUsedAt: Date | undefined) => void;
}

/** Checks the secrets of clients. Expired secrets are not accepted. */
export function createClientSecrets({ clock, used }: Dependencies): ClientSecrets {
  return {
    matches({ _id, secrets }, secret) {
      const hash = sha256(secret);
      const now = clock.now();
      // All secrets are compared, also after a match, so that the time reveals nothing.
      const equal = secrets.filter((stored) => sameText(stored.hash, hash));
      const matching = equal.find((stored) => isLive(stored, now));
      if (!matching) return false;
      used(_id, hash, matching.lastUsedAt);
      return true;
    },
  };
}
