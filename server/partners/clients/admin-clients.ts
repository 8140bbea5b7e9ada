import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import {
  ClientReference,
  ClientView,
  ClientWithSecret,
  CreateClient,
  DisableClient,
  ListClients,
  ListedClient,
  mostRedirectUris,
  RotateClientSecret,
  UpdateClient,
} from '../../../contracts/admin/clients.ts';
import { pageFields, Total } from '../../../contracts/admin/references.ts';
import { canBePositive } from '../../../contracts/claims.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import { changedList } from '../../platform/admin-api/changed-list.ts';
import { mutation, query, router } from '../../platform/admin-api/procedures.ts';
import { type Actor, auditEntry } from '../../platform/database/audit/audit-entry.ts';
import type { Decide } from '../../platform/database/audit/audited-change.ts';
import { withPartnerName } from '../../platform/database/partner-names.ts';
import { givenFields } from '../../platform/database/reads/look-through.ts';
import type { Change } from '../../platform/database/records.ts';
import { ApiError } from '../../platform/errors.ts';
import { randomId } from '../../platform/ids.ts';
import { needsApproval, requestBrand, splitBrand, storedRequest } from '../brands/brand-requests.ts';
import type { PartnersContext } from '../context.ts';
import { createCachedChange } from '../directory/directory.ts';
import { assertActive } from '../keys/admin-keys.ts';
import type { ApiKey } from '../keys/key-store.ts';
import { keptSecrets, newClientSecret } from '../keys/secrets.ts';
import { presentValues, storedForm } from '../settings.ts';
import { viewClient } from '../views.ts';
import { type Client, collection as clientCollection, sourcesOf } from './client-store.ts';
import { redirectUriFault } from './redirect-uris.ts';

const clientMutation = mutation({ target: 'clientId', record: clientCollection });
const partnerMutation = mutation({ target: 'partnerId', record: clientCollection });

const redirectUriList = { noun: 'redirect URI', most: mostRedirectUris };

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
 * A storefront exchange has no ID token, and a default claim that the client may not ask for would be refused at every start.
 * @throws ApiError `refused` if the settings of OpenID Connect do not fit the client
 */
function assertOpenid(
  client: Pick<Client, 'kind' | 'claims'> & Pick<UpdateClient, 'openid' | 'defaultClaims'>,
) {
  const { kind, claims, openid, defaultClaims } = client;
  if (openid && kind === 'storefront')
    throw new ApiError('refused', { description: 'A storefront client cannot speak OpenID Connect' });
  const foreign = defaultClaims?.find((name) => !claims.includes(name));
  if (foreign === undefined) return;
  const description = `The default claim ${foreign} is not among the claims that the client may ask for`;
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

const storedSettings = ({ sources, ...settings }: Settings): Change<Client>['set'] => ({
  ...storedForm(settings),
  ...(sources === undefined ? {} : storedSources(sources)),
});

/** Makes the procedures of `svcadmin clients`. A client has the mode of its API key. */
export function createClientProcedures(context: PartnersContext) {
  const { stores, clock, directory, sources, partnerNames } = context;
  const { clients: store, keys, partners } = stores;
  const changeRecord = createCachedChange(store, clock, directory);
  const view = (client: Client) => viewClient(client, clock.now());

  const change = async (clientId: string, actor: Actor, decide: Decide<Client>): Promise<ClientView> =>
    view(await changeRecord(clientId, actor, decide));

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
    const ofMode = sources.filter(({ modes }) => modes.includes(mode)).map(({ name }) => name);
    const unavailable = names.find((name) => !ofMode.includes(name));
    if (unavailable === undefined) return;
    const description = `No verification source ${unavailable} for ${mode} clients; there is ${ofMode.join(', ') || 'none'}`;
    throw new ApiError('refused', { description });
  }

  const setStatus = (
    clientId: string,
    to: Client['status'],
    { actor, reason }: { actor: Actor; reason?: string | undefined },
  ): Promise<ClientView> =>
    change(clientId, actor, ({ status }) => {
      if (status === to) return undefined;
      const after = { status: to, ...(reason === undefined ? {} : { reason }) };
      return { set: { status: to }, before: { status }, after };
    });

  return router({
    list: query(ListClients, z.array(ListedClient), async ({ limit, after, ...filter }) => {
      const found = await store.list(filter, { limit, after });
      return withPartnerName(found.map(view), partnerNames);
    }),

    count: query(ListClients.omit(pageFields), Total, (filter) => store.count(filter)),

    show: query(ClientReference, ClientView, async ({ clientId }) => view(await store.get(clientId))),

    create: partnerMutation(
      CreateClient,
      ClientWithSecret,
      async ({ partnerId, keyId, ...wanted }, actor) => {
        const { mode } = await requireKey(partnerId, keyId);
        assertRedirectUris(wanted.redirectUris, mode);
        assertExchangeable(wanted);
        assertOpenid(wanted);
        assertSources(wanted.sources ?? [], mode);
        const now = clock.now();
        const { secret, stored } = newClientSecret(now);
        const id = randomId('client');
        const entry = auditEntry(actor, { id, at: now }, { after: { partnerId, keyId, mode, ...wanted } });
        const { sources: sourceNames, ...given } = wanted;
        const { brand, rest } = splitBrand(given);
        const waits = needsApproval(mode, actor);
        const settings = waits ? rest : given;
        const request = waits ? requestBrand({}, givenFields(brand), { actor, now }) : undefined;
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
            ...givenFields(storedRequest(request)),
            ...givenFields(storedSources(sourceNames ?? null)),
          },
          entry,
        );
        return { ...view(client), clientSecret: secret };
      },
    ),

    /**
     * Changes a client. A field that is left out stays as it is; null sets the default. A member's change of a live brand waits
     * for an operator.
     */
    update: clientMutation(UpdateClient, ClientView, async (input, actor) => {
      const { clientId, addRedirectUris: add, removeRedirectUris: remove, ...wanted } = input;
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
      return change(clientId, actor, (current, now) => {
        const { brand, rest } = splitBrand<Settings>(givenFields(wanted));
        const waits = needsApproval(mode, actor) && Object.keys(brand).length > 0;
        const after = waits ? rest : givenFields(wanted);
        const request = waits ? requestBrand(current, brand, { actor, now }) : current.brandRequest;
        const redirectUris = changedList(current.redirectUris, { add, remove }, redirectUriList);
        if (!isDeepStrictEqual(redirectUris, current.redirectUris)) after.redirectUris = redirectUris;
        assertOpenid({ ...current, ...after, claims: after.claims ?? current.claims });
        if (Object.keys(after).length === 0 && request === current.brandRequest) return undefined;
        const asked = waits ? { brandRequest: request?.changes ?? null } : {};
        return {
          set: { ...storedSettings(after), ...storedRequest(request) },
          // A client with one source has no field `sources`.
          before: presentValues({ ...current, sources: sourcesOf(current) }, after),
          after: { ...after, ...asked },
        };
      });
    }),

    /**
     * Makes a new secret. The old secrets become invalid after `keepOldSeconds`, which may be 0. Other processes cache clients, so
     * they accept the old secrets for up to 2 s longer.
     */
    rotateSecret: clientMutation(RotateClientSecret, ClientWithSecret, async (input, actor) => {
      const { clientId, keepOldSeconds } = input;
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
      return { ...client, clientSecret: secret };
    }),

    disable: clientMutation(DisableClient, ClientView, ({ clientId, reason }, actor) =>
      setStatus(clientId, 'disabled', { actor, reason }),
    ),
    enable: clientMutation(ClientReference, ClientView, ({ clientId }, actor) =>
      setStatus(clientId, 'active', { actor }),
    ),
  });
}
