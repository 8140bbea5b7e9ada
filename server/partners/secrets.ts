import type { Clock } from '../platform/clock.ts';
import { isWellFormedSecret, randomSecret, sameText, sha256 } from '../platform/ids.ts';
import type { ClientSecret } from './client-store.ts';

/** Secrets that a client may have at the same time: the current one, and old ones kept by `--keep-old`. */
export const mostSecrets = 5;

/** A new client secret, and its stored form. */
export function newClientSecret(now: number): { secret: string; stored: ClientSecret } {
  const secret = randomSecret('clientSecret');
  return { secret, stored: { hash: sha256(secret), last4: secret.slice(-4), createdAt: new Date(now) } };
}

/** Whether a secret is accepted at this moment. */
export const isLive = ({ expiresAt }: Expiring, now: number): boolean =>
  !expiresAt || expiresAt.getTime() > now;

interface Expiring {
  expiresAt?: Date;
}

/** Secrets after a rotation: each until `keepUntil` at the latest, without those that have ended. */
export function keepUntil<S extends object>(
  secrets: readonly (S & Expiring)[],
  { now, keepUntil: latest }: { now: number; keepUntil: number },
): (S & { expiresAt: Date })[] {
  return secrets
    .map((secret) => {
      const until = Math.min(secret.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY, latest);
      return { ...secret, expiresAt: new Date(until) };
    })
    .filter((secret) => isLive(secret, now));
}

/**
 * The list after a rotation: the new secret first, the older ones until `keepUntil` at the latest.
 * @returns undefined where too many secrets would be valid at the same time
 */
export function rotateSecrets(
  secrets: readonly ClientSecret[],
  fresh: ClientSecret,
  times: { now: number; keepUntil: number },
): ClientSecret[] | undefined {
  const kept = keepUntil(secrets, times);
  return kept.length < mostSecrets ? [fresh, ...kept] : undefined;
}

export interface ClientSecrets {
  /** Whether `secret` is one that the client may use now. Time does not depend on which one, or on how wrong it is. */
  matches(client: { _id: string; secrets: readonly ClientSecret[] }, secret: string): boolean;
}

interface Dependencies {
  clock: Pick<Clock, 'now'>;
  /** A client was recognised by the secret with this hash. */
  used: (clientId: string, hash: string, lastUsedAt: Date | undefined) => void;
}

export function createClientSecrets({ clock, used }: Dependencies): ClientSecrets {
  return {
    matches({ _id, secrets }, secret) {
      const hash = sha256(secret);
      const now = clock.now();
      // Every secret is compared, whichever matches.
      const [equal] = secrets
        .filter((known) => sameText(known.hash, hash))
        .filter((known) => isLive(known, now));
      if (!equal || !isWellFormedSecret('clientSecret', secret)) return false;
      used(_id, hash, equal.lastUsedAt);
      return true;
    },
  };
}
