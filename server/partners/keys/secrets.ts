import type { Clock } from '../../platform/clock.ts';
import { ApiError } from '../../platform/errors.ts';
import { randomSecret, sameText, sha256 } from '../../platform/ids.ts';
import type { ClientSecret } from '../clients/client-store.ts';
import type { SecretUses } from './secret-uses.ts';

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
 * @param secrets the secrets before the rotation: the present one, which has no expiry yet, and older ones
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
      const ownEnd = secret.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY;
      return { ...secret, expiresAt: new Date(Math.min(ownEnd, keepUntil)) };
    })
    .filter((secret) => isLive(secret, now));
  // The new secret is accepted too. So there must be fewer old ones than `mostSecrets`.
  if (kept.length < mostSecrets) return kept;
  throw new ApiError('conflict', {
    description: `Too many secrets of this ${noun} are still accepted; rotate without keeping the old ones`,
  });
}

interface Dependencies {
  clock: Pick<Clock, 'now'>;
  used: Pick<SecretUses, 'client'>;
}

/** Checks the secrets of clients. Expired secrets are not accepted. */
export function createClientSecrets({ clock, used }: Dependencies) {
  return {
    /** Whether the client accepts `secret` now. The time that this takes reveals nothing about the stored secrets. */
    matches({ _id, secrets }: { _id: string; secrets: readonly ClientSecret[] }, secret: string): boolean {
      const hash = sha256(secret);
      // `filter` compares all secrets, also after a match, so that the time does not reveal which one matches.
      const [matching] = secrets.filter((stored) => sameText(stored.hash, hash));
      if (!matching || !isLive(matching, clock.now())) return false;
      used.client(_id, hash, matching.lastUsedAt);
      return true;
    },
  };
}
