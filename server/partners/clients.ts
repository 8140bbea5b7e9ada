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
import { createAuditedChange, type Decide } from '../platform/database/audited-change.ts';
import { givenFields } from '../platform/database/look-through.ts';
import type { Change } from '../platform/database/records.ts';
import { ApiError } from '../platform/errors.ts';
import { randomId } from '../platform/ids.ts';
import { type Client, type ClientStore, sourcesOf } from './client-store.ts';
import type { Directory } from './directory.ts';
import type { ApiKey, KeyStore } from './key-store.ts';
import { assertActive } from './keys.ts';
import type { PartnerStore } from './partner-store.ts';
import { redirectUriFault } from './redirect-uris.ts';
import { keptSecrets, newClientSecret } from './secrets.ts';

const redirectUriList = { noun: 'redirect URI', most: mostRedirectUris };

interface Dependencies {
  store: ClientStore;
  keys: Pick<KeyStore, 'get'>;
  partners: Pick<PartnerStore, 'get'>;
  clock: Pick<Clock, 'now'>;
  directory: Pick<Directory, 'changed'>;
  /** The verification sources of this installation. If undefined, any name is accepted. */
  sources: readonly Source[] | undefined;
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

/** The settings that an update changes. A setting of null goes back to its default. */
type Settings = Omit<UpdateClient, 'clientId' | 'addRedirectUris' | 'removeRedirectUris'>;

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

/**
 * Returns the stored fields for the names of a client's sources; null means the default. One name is stored in `source` alone.
 * `source` is also set for several names, because older builds read only that field.
 */
const storedSources = (names: readonly string[] | null) => ({
  source: names?.[0],
  sources: names && names.length > 1 ? [...names] : undefined,
});

/** Returns the change of the record for new settings. The field of a setting of null is removed, which means the default. */
function storedSettings({ sources, ...settings }: Settings): Change<Client>['set'] {
  const fields = Object.entries(settings).map(([name, value]) => [name, value ?? undefined]);
  const changed: Change<Client>['set'] = Object.fromEntries(fields);
  return sources === undefined ? changed : { ...changed, ...storedSources(sources) };
}

/** Returns the present values of the settings that an update changes, for the audit log. */
function previousSettings(client: Client, changed: Settings): Record<string, unknown> {
  // A client with one source has no field `sources`.
  const present: Record<string, unknown> = { ...client, sources: sourcesOf(client) };
  return Object.fromEntries(Object.keys(changed).map((name) => [name, present[name] ?? null]));
}

/** Manages the clients of partners. A client has the mode of its API key. The methods throw ApiError. */
export function createClients({ store, keys, partners, clock, directory, sources }: Dependencies) {
  const changeRecord = createAuditedChange(store, clock);

  /**
   * Returns an active API key of this partner.
   * @throws ApiError `not_found` if the partner or the key does not exist, `refused` or `conflict` for another or a revoked key
   */
  async function requireKey(partnerId: string, keyId: string): Promise<ApiKey> {
    const [, key] = await Promise.all([partners.get(partnerId), keys.get(keyId)]);
    if (key.partnerId !== partnerId) {
      throw new ApiError('refused', { description: `API key ${keyId} belongs to another partner` });
    }
    assertActive(key);
    return key;
  }

  /** @throws ApiError `refused` if one of the sources does not exist, or does not serve the mode */
  function assertSources(names: readonly string[], mode: Mode): void {
    if (!sources) return;
    const ofMode = sources.filter(({ modes }) => modes.includes(mode)).map(({ name }) => name);
    const unavailable = names.find((name) => !ofMode.includes(name));
    if (unavailable === undefined) return;
    const description = `No verification source ${unavailable} for ${mode} clients; there is ${ofMode.join(', ') || 'none'}`;
    throw new ApiError('refused', { description });
  }

  /** Changes a client, and makes all processes read it again. */
  async function change(clientId: string, actor: Actor, decide: Decide<Client>): Promise<Client> {
    const client = await changeRecord(clientId, actor, decide);
    await directory.changed(clientId);
    return client;
  }

  const setStatus = (clientId: string, to: Client['status'], actor: Actor): Promise<Client> =>
    change(clientId, actor, ({ status }) =>
      status === to ? undefined : { set: { status: to }, before: { status }, after: { status: to } },
    );

  return {
    /** Makes a client with its first secret. */
    async create({ partnerId, keyId, ...wanted }: CreateClient, actor: Actor): Promise<FreshClient> {
      const { mode } = await requireKey(partnerId, keyId);
      assertRedirectUris(wanted.redirectUris, mode);
      assertExchangeable(wanted);
      assertSources(wanted.sources ?? [], mode);
      const now = clock.now();
      const { secret, stored } = newClientSecret(now);
      const id = randomId('client');
      const entry = auditEntry(actor, { id, at: now }, { after: { partnerId, keyId, mode, ...wanted } });
      const { sources: sourceNames, ...settings } = wanted;
      const client = await store.insert(
        {
          _id: id,
          partnerId,
          keyId,
          mode,
          status: 'active',
          secrets: [stored],
          createdAt: new Date(now),
          ...givenFields(settings),
          ...givenFields(storedSources(sourceNames ?? null)),
        },
        entry,
      );
      return { client, clientSecret: secret };
    },

    show: (clientId: string): Promise<Client> => store.get(clientId),

    list: ({ limit, after, ...filter }: ListClients): Promise<Client[]> =>
      store.list(filter, { limit, after }),

    count: (filter: Unpaged<ListClients>): Promise<Total> => store.count(filter),

    /** Changes a client. A field that is left out stays as it is; null sets the default. */
    async update(
      { clientId, addRedirectUris: add, removeRedirectUris: remove, ...wanted }: UpdateClient,
      actor: Actor,
    ): Promise<Client> {
      // These three never change, so the values are still right when the change is made.
      const { partnerId, mode, kind } = await store.get(clientId);
      if (wanted.claims) assertExchangeable({ kind, claims: wanted.claims });
      // An update has either the whole list of redirect URIs, or those to add and to remove.
      assertRedirectUris(wanted.redirectUris ?? add ?? [], mode);
      assertSources(wanted.sources ?? [], mode);
      if (wanted.keyId && (await requireKey(partnerId, wanted.keyId)).mode !== mode) {
        throw new ApiError('refused', {
          description: `A ${mode} client cannot move to a key of the other mode`,
        });
      }
      return change(clientId, actor, (current) => {
        const after: Settings = givenFields(wanted);
        const redirectUris = changedList(current.redirectUris, { add, remove }, redirectUriList);
        if (!isDeepStrictEqual(redirectUris, current.redirectUris)) after.redirectUris = redirectUris;
        if (Object.keys(after).length === 0) return undefined;
        return { set: storedSettings(after), before: previousSettings(current, after), after };
      });
    },

    /**
     * Makes a new secret. The old secrets become invalid after `keepOldSeconds`, which may be 0. Other processes cache clients, so
     * they accept the old secrets for up to 2 s longer.
     */
    async rotateSecret({ clientId, keepOldSeconds }: RotateClientSecret, actor: Actor): Promise<FreshClient> {
      const { secret, stored } = newClientSecret(clock.now());
      const client = await change(clientId, actor, ({ secrets }, now) => {
        const keepUntil = now + keepOldSeconds * 1000;
        const rotated = [stored, ...keptSecrets(secrets, { now, keepUntil }, 'client')];
        const [presentSecret] = secrets;
        return {
          set: { secrets: rotated },
          before: { secrets: secrets.length, last4: presentSecret?.last4 },
          after: { secrets: rotated.length, keepOldSeconds, last4: stored.last4 },
        };
      });
      return { client, clientSecret: secret };
    },

    disable: (clientId: string, actor: Actor): Promise<Client> => setStatus(clientId, 'disabled', actor),
    enable: (clientId: string, actor: Actor): Promise<Client> => setStatus(clientId, 'active', actor),
  };
}
