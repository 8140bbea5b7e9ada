import type { Clock } from '../platform/clock.ts';
import { isWellFormedSecret, randomSecret, sameText, sha256 } from '../platform/ids.ts';
import type { ClientSecret } from './client-store.ts';

/** Secrets that a client may have at the same time: the current one, and old ones kept by `--keep-old`. */
const mostSecrets = 5;

/** A new client secret, and its stored form. */
export function newClientSecret(now: number): { secret: string; stored: ClientSecret } {
  const secret = randomSecret('clientSecret');
  return { secret, stored: { hash: sha256(secret), last4: secret.slice(-4), createdAt: new Date(now) } };
}

const isLive = ({ expiresAt }: ClientSecret, now: number): boolean => !expiresAt || expiresAt.getTime() > now;

/**
 * The list after a rotation: the new secret first, the older ones until `keepUntil` at the latest.
 * @returns undefined where too many secrets would be valid at the same time
 */
export function rotateSecrets(
  secrets: readonly ClientSecret[],
  fresh: ClientSecret,
  { now, keepUntil }: { now: number; keepUntil: number },
): ClientSecret[] | undefined {
  const kept = secrets
    .map(({ expiresAt, ...secret }) => ({
      ...secret,
      expiresAt: new Date(Math.min(expiresAt?.getTime() ?? Number.POSITIVE_INFINITY, keepUntil)),
    }))
    .filter((secret) => isLive(secret, now));
  return kept.length < mostSecrets ? [fresh, ...kept] : undefined;
}

export interface ClientSecrets {
  /** Whether `secret` is one that the client may use now. Time does not depend on which one, or on how wrong it is. */
  matches(client: { secrets: readonly ClientSecret[] }, secret: string): boolean;
}

export function createClientSecrets({ clock }: { clock: Pick<Clock, 'now'> }): ClientSecrets {
  return {
    matches({ secrets }, secret) {
      const hash = sha256(secret);
      const now = clock.now();
      // Every secret is compared, whichever matches.
      const equal = secrets.filter((known) => sameText(known.hash, hash)).some((known) => isLive(known, now));
      return equal && isWellFormedSecret('clientSecret', secret);
    },
  };
}
