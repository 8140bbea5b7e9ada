import type { Clock } from '../platform/clock.ts';
import { isWellFormedSecret, randomSecret, sameText, sha256 } from '../platform/ids.ts';
import type { ClientSecret } from './client-store.ts';

/** The most secrets that are accepted at the same time: the current one, and the old ones that `--keep-old` keeps. */
export const mostSecrets = 5;

/** Returns a new client secret and its stored form. @param now milliseconds since the epoch */
export function newClientSecret(now: number): { secret: string; stored: ClientSecret } {
  const secret = randomSecret('clientSecret');
  return { secret, stored: { hash: sha256(secret), last4: secret.slice(-4), createdAt: new Date(now) } };
}

interface Expiring {
  expiresAt?: Date;
}

/** Whether a secret is accepted at a time. @param now milliseconds since the epoch */
export const isLive = ({ expiresAt }: Expiring, now: number): boolean =>
  !expiresAt || expiresAt.getTime() > now;

/** Returns the secrets that are still accepted after a rotation. Each expires at `keepUntil` at the latest. */
export function keptSecrets<S extends object>(
  secrets: readonly (S & Expiring)[],
  { now, keepUntil }: { now: number; keepUntil: number },
): (S & { expiresAt: Date })[] {
  return secrets
    .map((secret) => {
      const end = Math.min(secret.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY, keepUntil);
      return { ...secret, expiresAt: new Date(end) };
    })
    .filter((secret) => isLive(secret, now));
}

/**
 * Returns the list after a rotation: the new secret first, then the older ones, which expire at `keepUntil` at the latest.
 * @returns undefined if too many secrets would be valid at the same time
 */
export function rotateSecrets(
  secrets: readonly ClientSecret[],
  fresh: ClientSecret,
  times: { now: number; keepUntil: number },
): ClientSecret[] | undefined {
  const kept = keptSecrets(secrets, times);
  return kept.length < mostSecrets ? [fresh, ...kept] : undefined;
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

export function createClientSecrets({ clock, used }: Dependencies): ClientSecrets {
  return {
    matches({ _id, secrets }, secret) {
      const hash = sha256(secret);
      const now = clock.now();
      // All secrets are compared, also after a match, so that the time reveals nothing.
      const equal = secrets.filter((known) => sameText(known.hash, hash));
      const matching = equal.find((known) => isLive(known, now));
      if (!matching || !isWellFormedSecret('clientSecret', secret)) return false;
      used(_id, hash, matching.lastUsedAt);
      return true;
    },
  };
}
