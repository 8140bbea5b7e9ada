import { isDeepStrictEqual } from 'node:util';
import type {
  CreateClient,
  ListClients,
  RotateClientSecret,
  UpdateClient,
} from '../../contracts/admin/clients.ts';
import { mostRedirectUris } from '../../contracts/admin/clients.ts';
import type { Total, Unpaged } from '../../contracts/admin/references.ts';
import { canBePositive } from '../../contracts/claims.ts';
import type { Mode } from '../../contracts/identifiers.ts';
import { changedList } from '../platform/admin-api/changed-list.ts';
import type { Clock } from '../platform/clock.ts';
import { type Actor, auditEntry } from '../platform/database/audit-entry.ts';
import { ApiError } from '../platform/errors.ts';
import { randomId } from '../platform/ids.ts';
import { type Client, type ClientStore, sourcesOf } from './client-store.ts';
import type { Directory } from './directory.ts';
import type { ApiKey, KeyStore } from './key-store.ts';
import { assertActive } from './keys.ts';
import type { PartnerStore } from './partner-store.ts';
import { redirectUriFault } from './redirect-uris.ts';
import { newClientSecret, rotateSecrets } from './secrets.ts';

const redirectUriList = { noun: 'redirect URI', most: mostRedirectUris };

interface Dependencies {
  store: ClientStore;
  keys: Pick<KeyStore, 'find'>;
  partners: Pick<PartnerStore, 'find'>;
  clock: Pick<Clock, 'now'>;
  directory: Pick<Directory, 'changed'>;
  sources?: readonly Source[];
}

/** A verification source that clients may be set to. */
export interface Source {
  name: string;
  modes: readonly Mode[];
}

/** A client with its secret: shown once, when the secret is made. */
export interface FreshClient {
  client: Client;
  clientSecret: string;
}

export type Clients = ReturnType<typeof createClients>;

/** The fields that an update may set. A field that is present and undefined goes back to its default. */
type Settings = Partial<
  Pick<
    Client,
    | 'keyId'
    | 'name'
    | 'redirectUris'
    | 'claims'
    | 'source'
    | 'sources'
    | 'brandName'
    | 'brandColor'
    | 'purpose'
    | 'privacyUrl'
    | 'passkeys'
    | 'maxVerificationAgeSeconds'
    | 'tokenRequestsPerMinute'
    | 'userinfoRequestsPerMinute'
  >
>;

/** @throws ApiError `refused` if one of the URIs may not be registered in this mode */
export function assertRedirectUris(uris: readonly string[], mode: Mode): void {
  for (const uri of uris) {
    const fault = redirectUriFault(uri, mode);
    if (fault) throw new ApiError('refused', { description: `Redirect URI ${uri} ${fault}` });
  }
}

/**
 * A storefront exchange needs a claim that is true (docs/choices.md).
 * @throws ApiError `refused` if no claim of a storefront client can be true
 */
function assertExchangeable({ kind, claims }: Pick<Client, 'kind' | 'claims'>): void {
  if (kind !== 'storefront' || canBePositive(claims)) return;
  const description = `A storefront client needs a claim that can be true, such as age_18_plus; ${claims.join(', ')} cannot`;
  throw new ApiError('refused', { description });
}

/** Returns the stored fields for a list of sources. Older builds, which allow one source only, read `source`. */
const storedSources = ([first = '', ...others]: readonly string[]): Pick<Client, 'source' | 'sources'> =>
  others.length === 0 ? { source: first } : { source: first, sources: [first, ...others] };

/** @throws ApiError `refused` if no source with this name serves the mode. Without a list, any name passes. */
function assertSource(sources: readonly Source[] | undefined, name: string, mode: Mode): void {
  if (!sources) return;
  const fitting = sources.filter(({ modes }) => modes.includes(mode)).map((source) => source.name);
  if (fitting.includes(name)) return;
  const description = `No verification source ${name} for ${mode} clients; there is ${fitting.join(', ') || 'none'}`;
  throw new ApiError('refused', { description });
}

/** Manages the clients of partners. A client has the mode of its API key. The methods throw ApiError. */
export function createClients({ store, keys, partners, clock, directory, sources }: Dependencies) {
  /** Returns an active API key of this partner. */
  async function requireKey(partnerId: string, keyId: string): Promise<ApiKey> {
    const [partner, key] = await Promise.all([partners.find(partnerId), keys.find(keyId)]);
    if (!partner) throw new ApiError('not_found', { description: `No partner ${partnerId}` });
    if (!key) throw new ApiError('not_found', { description: `No API key ${keyId}` });
    if (key.partnerId !== partnerId) {
      throw new ApiError('refused', { description: `API key ${keyId} belongs to another partner` });
    }
    assertActive(key);
    return key;
  }

  async function show(clientId: string): Promise<Client> {
    const client = await store.find(clientId);
    if (!client) throw new ApiError('not_found', { description: `No client ${clientId}` });
    return client;
  }

  async function change(...args: Parameters<ClientStore['change']>): Promise<Client> {
    const client = await store.change(...args);
    await directory.changed(client._id);
    return client;
  }

  function setStatus(clientId: string, to: Client['status'], actor: Actor): Promise<Client> {
    return change(clientId, ({ status }) => {
      if (status === to) return undefined;
      const target = { id: clientId, at: clock.now() };
      return {
        set: { status: to },
        entry: auditEntry(actor, target, { before: { status }, after: { status: to } }),
      };
    });
  }

  return {
    async create({ partnerId, keyId, ...wanted }: CreateClient, actor: Actor): Promise<FreshClient> {
      const { mode } = await requireKey(partnerId, keyId);
      assertRedirectUris(wanted.redirectUris, mode);
      assertExchangeable(wanted);
      for (const name of wanted.sources ?? []) assertSource(sources, name, mode);
      const now = clock.now();
      const { secret, stored } = newClientSecret(now);
      const id = randomId('client');
      const entry = auditEntry(actor, { id, at: now }, { after: { partnerId, keyId, mode, ...wanted } });
      const { sources: names, brandName, brandColor, purpose, privacyUrl, ...others } = wanted;
      const { passkeys, maxVerificationAgeSeconds, ...limited } = others;
      const { tokenRequestsPerMinute, userinfoRequestsPerMinute, ...required } = limited;
      const client = await store.insert(
        {
          _id: id,
          partnerId,
          keyId,
          mode,
          status: 'active',
          secrets: [stored],
          createdAt: new Date(now),
          ...required,
          ...(names && storedSources(names)),
          ...(brandName && { brandName }),
          ...(brandColor && { brandColor }),
          ...(purpose && { purpose }),
          ...(privacyUrl && { privacyUrl }),
          ...(passkeys === false && { passkeys }),
          ...(maxVerificationAgeSeconds && { maxVerificationAgeSeconds }),
          ...(tokenRequestsPerMinute && { tokenRequestsPerMinute }),
          ...(userinfoRequestsPerMinute && { userinfoRequestsPerMinute }),
        },
        entry,
      );
      return { client, clientSecret: secret };
    },

    show,

    list({ partnerId, keyId, mode, kind, status, ...page }: ListClients): Promise<Client[]> {
      return store.list({ partnerId, keyId, mode, kind, status }, page);
    },

    count: ({ partnerId, keyId, mode, kind, status }: Unpaged<ListClients>): Promise<Total> =>
      store.count({ partnerId, keyId, mode, kind, status }),

    /** Changes a client. A field that is left out stays as it is; null sets the default. */
    async update(
      { clientId, addRedirectUris: add, removeRedirectUris: remove, ...wanted }: UpdateClient,
      actor: Actor,
    ): Promise<Client> {
      const { partnerId, mode, kind } = await show(clientId);
      if (wanted.claims) assertExchangeable({ kind, claims: wanted.claims });
      assertRedirectUris(wanted.redirectUris ?? add ?? [], mode);
      for (const name of wanted.sources ?? []) assertSource(sources, name, mode);
      if (wanted.keyId && (await requireKey(partnerId, wanted.keyId)).mode !== mode) {
        throw new ApiError('refused', {
          description: `A ${mode} client cannot move to a key of the other mode`,
        });
      }
      const fields = Object.entries(wanted).filter(([, value]) => value !== undefined);
      return change(clientId, (current) => {
        const redirectUris = changedList(current.redirectUris, { add, remove }, redirectUriList);
        const isListChanged = !isDeepStrictEqual(redirectUris, current.redirectUris);
        const given: [string, unknown][] = isListChanged
          ? [...fields, ['redirectUris', redirectUris]]
          : fields;
        if (given.length === 0) return undefined;
        const settings: Settings = Object.fromEntries(
          given.map(([name, value]) => [name, value ?? undefined]),
        );
        const names = wanted.sources;
        const source = names === undefined ? {} : { source: undefined, sources: undefined };
        const stored = names ? storedSources(names) : {};
        const previous = { ...current, sources: sourcesOf(current) };
        const before = Object.fromEntries(
          given.map(([name]) => [name, previous[name as keyof Settings] ?? null]),
        );
        const target = { id: clientId, at: clock.now() };
        return {
          set: { ...settings, ...source, ...stored },
          entry: auditEntry(actor, target, { before, after: Object.fromEntries(given) }),
        };
      });
    },

    /** Makes a new secret. The old secrets become invalid after `keepOldSeconds`, and at the earliest after 2 s (caches). */
    async rotateSecret({ clientId, keepOldSeconds }: RotateClientSecret, actor: Actor): Promise<FreshClient> {
      const { secret, stored } = newClientSecret(clock.now());
      const client = await change(clientId, ({ secrets }) => {
        const now = clock.now();
        const rotated = rotateSecrets(secrets, stored, { now, keepUntil: now + keepOldSeconds * 1000 });
        if (!rotated) {
          const description =
            'Too many secrets of this client are still accepted; rotate without keeping the old ones';
          throw new ApiError('conflict', { description });
        }
        const difference = {
          before: { secrets: secrets.length, last4: secrets[0]?.last4 },
          after: { secrets: rotated.length, keepOldSeconds, last4: stored.last4 },
        };
        return { set: { secrets: rotated }, entry: auditEntry(actor, { id: clientId, at: now }, difference) };
      });
      return { client, clientSecret: secret };
    },

    disable: (clientId: string, actor: Actor): Promise<Client> => setStatus(clientId, 'disabled', actor),
    enable: (clientId: string, actor: Actor): Promise<Client> => setStatus(clientId, 'active', actor),
  };
}
