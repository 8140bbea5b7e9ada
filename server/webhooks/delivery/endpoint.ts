import { LRUCache } from 'lru-cache';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { SkipReason } from '../../../contracts/webhooks.ts';
import type { Directory } from '../../partners/directory/directory.ts';
import type { ApiKey } from '../../partners/keys/key-store.ts';
import { type Partner, statusOf } from '../../partners/partner-store.ts';
import { atMost } from '../../platform/batching/cache-size.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Sealing } from '../../platform/keys/sealing.ts';

/** The webhook URL of a key, or why it has none. */
export type Endpoint =
  | {
      state: 'on';
      url: string;
      /** The signing secret as shown, `whsec_…`. */
      secret: string;
      secretVersion: number;
      mode: Mode;
      /** Deliveries of a paused key are not sent before this time. */
      pausedUntil?: Date;
      /** Notes that the secret has signed an attempt. */
      noteUse?: () => void;
    }
  | { state: 'off'; reason: OffReason };

/** Why nothing is sent to a key. */
export type OffReason = 'no_url' | 'key_revoked' | 'partner_suspended' | 'partner_closed';

/**
 * Tells why nothing is sent to a key now; undefined if events are sent. It opens no secret, and notes no use of one. With the
 * partner's id, key and partner are read in one command.
 */
export type WhyOff = (keyId: string, partnerId?: string) => Promise<OffReason | undefined>;

/** A key and its partner, as the database had them. */
export interface Parties {
  key: ApiKey | undefined;
  partner: Partner | undefined;
  /** When the read began, in milliseconds since 1970. */
  readAt: number;
}

/**
 * Read at every attempt and never cached, so that revocation and rotation have immediate effect. With the partner's id, key and
 * partner are read in one command. With `parties`, which a first attempt has from its publication just before, nothing is read.
 */
export type ReadEndpoint = (
  keyId: string,
  known?: { partnerId?: string | undefined; parties?: Parties | undefined },
) => Promise<Endpoint>;

/** The key whose webhook URL gets an event. */
export interface Recipient {
  keyId: string;
  /** Why nothing can be sent to this key; undefined if it can. */
  skip?: SkipReason;
  /** What was read to find the key. The first attempt needs no other read if it follows soon. */
  parties?: Parties | undefined;
}

interface RecipientSettings extends Pick<Directory, 'apiKey' | 'client' | 'partner'>, Pick<Clock, 'now'> {
  /** Whether this process sends, so that the first attempt may need the partner too. */
  worker: boolean;
}

/**
 * Returns the API key whose webhook URL receives an event. It is the key that owns the session. If that key is revoked, it is the
 * present key of the client (docs/choices.md). `skip` is set if the key has no URL: the delivery is then stored as skipped, without
 * an attempt. For an inactive key, the attempt skips the delivery.
 */
export async function eventRecipient(
  { keyId, partnerId, clientId }: { keyId: string; partnerId: string; clientId?: string },
  { apiKey, client, partner: readPartner, now, worker }: RecipientSettings,
): Promise<Recipient> {
  const readAt = now();
  const [owner, partner] = await Promise.all([
    apiKey(keyId),
    worker ? readPartner(partnerId, { fresh: true }) : undefined,
  ]);
  const isRevoked = owner?.status === 'revoked';
  const found = isRevoked && clientId ? await client(clientId, { fresh: true }) : undefined;
  const key = found ? await apiKey(found.client.keyId) : owner;
  const recipient = { keyId: key?._id ?? keyId, ...(worker && { parties: { key, partner, readAt } }) };
  const hasNoUrl = key?.status === 'active' && !key.webhook;
  return hasNoUrl ? { ...recipient, skip: 'no_url' } : recipient;
}

/** Returns a function that reads, from no cache, a key that events are sent to, or why none are. */
function createReadKey({ apiKey, partner }: Pick<Directory, 'apiKey' | 'partner'>) {
  const readPartner = (id: string) => partner(id, { fresh: true });
  return async (...[keyId, { partnerId, parties } = {}]: Parameters<ReadEndpoint>) => {
    const [key, known] = parties
      ? [parties.key, parties.partner]
      : await Promise.all([apiKey(keyId), partnerId === undefined ? undefined : readPartner(partnerId)]);
    if (key?.status !== 'active') return { state: 'off', reason: 'key_revoked' } as const;
    const owner = key.partnerId === partnerId ? known : await readPartner(key.partnerId);
    const status = owner && statusOf(owner);
    if (status === 'suspended' || status === 'closed')
      return { state: 'off', reason: `partner_${status}` } as const;
    const { webhook } = key;
    return webhook ? ({ state: 'on', key, webhook } as const) : ({ state: 'off', reason: 'no_url' } as const);
  };
}

/** Returns a function that tells why nothing is sent to a key. */
export function createWhyOff(directory: Pick<Directory, 'apiKey' | 'partner'>): WhyOff {
  const readKey = createReadKey(directory);
  return async (keyId, partnerId) => {
    const found = await readKey(keyId, { partnerId });
    return found.state === 'off' ? found.reason : undefined;
  };
}

/** How many keys' opened secrets a process remembers: about 2 MB. */
const mostOpened = 10_000;

interface EndpointSettings extends Pick<Directory, 'apiKey' | 'partner'> {
  sealing: Pick<Sealing, 'open'>;
  /** Notes that the signing secret of a key was used. */
  used: { endpoint: (key: ApiKey) => void };
}

/**
 * Returns a function that reads the webhook endpoint of a key, or why its events are not sent. Keys and partners come from no
 * cache, so changes take effect immediately. The opened secret of a key is remembered with its sealed text, because to open one
 * costs more than to sign with it. A key with another sealed text, or without an endpoint, loses the remembered secret.
 */
export function createWebhookEndpoints(settings: EndpointSettings): ReadEndpoint {
  const { sealing, used } = settings;
  const readKey = createReadKey(settings);
  const opened = new LRUCache<string, { sealed: string; secret: string }>(atMost(mostOpened));

  async function openSecret(keyId: string, sealed: string): Promise<string> {
    const known = opened.get(keyId);
    if (known?.sealed === sealed) return known.secret;
    const secret = await sealing.open(sealed);
    opened.set(keyId, { sealed, secret });
    return secret;
  }

  async function readEndpoint(...[keyId, known]: Parameters<ReadEndpoint>): Promise<Endpoint> {
    const found = await readKey(keyId, known);
    if (found.state === 'off') return found;
    const { key } = found;
    const { url, sealedSecret, secretVersion } = found.webhook;
    const secret = await openSecret(keyId, sealedSecret);
    const paused = key.pause ? { pausedUntil: key.pause.until } : {};
    const noteUse = () => used.endpoint(key);
    return { state: 'on', url, secret, secretVersion, ...paused, mode: key.mode, noteUse };
  }

  return async (keyId, known) => {
    const endpoint = await readEndpoint(keyId, known);
    if (endpoint.state === 'off') opened.delete(keyId);
    return endpoint;
  };
}
