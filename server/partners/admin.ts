import { z } from 'zod';
import {
  ClientReference,
  ClientView,
  ClientWithSecret,
  CreateClient,
  ListClients,
  ListedClient,
  RotateClientSecret,
  UpdateClient,
} from '../../contracts/admin/clients.ts';
import {
  CreateKey,
  EndpointView,
  EndpointWithSecret,
  KeyReference,
  KeyView,
  KeyWithSecret,
  ListedKey,
  ListKeys,
  PauseEndpoint,
  RotateKey,
  SetEndpoint,
  SetNotices,
  SwitchSecret,
} from '../../contracts/admin/keys.ts';
import {
  CreatePartner,
  FoundPartner,
  ListPartners,
  PartnerReference,
  PartnerView,
  PlannedPartner,
  SearchPartners,
  SetLogo,
} from '../../contracts/admin/partners.ts';
import { pageFields, Total } from '../../contracts/admin/references.ts';
import { mutation, query, router } from '../platform/admin-api/procedures.ts';
import type { Clock } from '../platform/clock.ts';
import { type PartnerNames, withPartnerName } from '../platform/database/partner-names.ts';
import type { Client } from './client-store.ts';
import { assertRedirectUris, type Clients, type FreshClient } from './clients.ts';
import type { Endpoints, FreshEndpoint } from './endpoints.ts';
import type { ApiKey } from './key-store.ts';
import type { FreshKey, Keys } from './keys.ts';
import type { Logos } from './logos.ts';
import type { Partners } from './partners.ts';
import type { SearchForPartners } from './search.ts';
import { viewClient, viewEndpoint, viewKey, viewPartner } from './views.ts';

interface Dependencies {
  partners: Partners;
  search: SearchForPartners;
  logos: Logos;
  keys: Keys;
  clients: Clients;
  endpoints: Endpoints;
  clock: Pick<Clock, 'now'>;
  partnerNames: PartnerNames;
  /** Called when an operator or member has ended the pause of a key's webhooks. */
  onResumed: (keyId: string) => Promise<void>;
}

/** Makes the procedures that `svcadmin partners`, `keys`, `clients` and `webhooks` call. */
export function createPartnersProcedures(dependencies: Dependencies) {
  const { keys, clients, clock, partnerNames } = dependencies;
  return {
    partners: partnerProcedures(dependencies),
    keys: keyProcedures(keys, clock, partnerNames),
    clients: clientProcedures(clients, clock, partnerNames),
    webhooks: endpointProcedures(dependencies),
  };
}

function partnerProcedures({ partners, search, logos, endpoints }: Dependencies) {
  return router({
    list: query(ListPartners, z.array(PartnerView), async (input) =>
      (await partners.list(input)).map(viewPartner),
    ),
    count: query(ListPartners.omit(pageFields), Total, (input) => partners.count(input)),
    search: query(SearchPartners, z.array(FoundPartner), (input) => search(input)),
    show: query(PartnerReference, PartnerView, async ({ partnerId }) =>
      viewPartner(await partners.show(partnerId)),
    ),
    // Checks the addresses of a planned partner, before a command makes the first of its records. It makes them in test mode.
    check: query(PlannedPartner, z.literal('sound'), ({ redirectUris, webhookUrl }) => {
      assertRedirectUris(redirectUris, 'test');
      if (webhookUrl !== undefined) endpoints.assertUrl(webhookUrl, 'test');
      return 'sound' as const;
    }),
    create: mutation(CreatePartner, PartnerView, async ({ name }, actor) =>
      viewPartner(await partners.create(name, actor)),
    ),
    activate: mutation(PartnerReference, PartnerView, async ({ partnerId }, actor) =>
      viewPartner(await partners.activate(partnerId, actor)),
    ),
    setLogo: mutation(SetLogo, PartnerView, async ({ partnerId, image }, actor) =>
      viewPartner(await logos.set(partnerId, image, actor)),
    ),
    removeLogo: mutation(PartnerReference, PartnerView, async ({ partnerId }, actor) =>
      viewPartner(await logos.remove(partnerId, actor)),
    ),
    suspend: mutation(PartnerReference, PartnerView, async ({ partnerId }, actor) =>
      viewPartner(await partners.suspend(partnerId, actor)),
    ),
  });
}

function keyProcedures(keys: Keys, clock: Pick<Clock, 'now'>, partnerNames: PartnerNames) {
  const view = (key: ApiKey) => viewKey(key, clock.now());
  const viewNew = ({ key, apiKey }: FreshKey) => ({ ...view(key), apiKey });
  return router({
    list: query(ListKeys, z.array(ListedKey), async (input) =>
      withPartnerName((await keys.list(input)).map(view), partnerNames),
    ),
    count: query(ListKeys.omit(pageFields), Total, (input) => keys.count(input)),
    show: query(KeyReference, KeyView, async ({ keyId }) => view(await keys.show(keyId))),
    create: mutation(CreateKey, KeyWithSecret, async (input, actor) =>
      viewNew(await keys.create(input, actor)),
    ),
    rotate: mutation(RotateKey, KeyWithSecret, async (input, actor) =>
      viewNew(await keys.rotate(input, actor)),
    ),
    revoke: mutation(KeyReference, KeyView, async ({ keyId }, actor) =>
      view(await keys.revoke(keyId, actor)),
    ),
  });
}

function clientProcedures(clients: Clients, clock: Pick<Clock, 'now'>, partnerNames: PartnerNames) {
  const view = (client: Client) => viewClient(client, clock.now());
  const viewNew = ({ client, clientSecret }: FreshClient) => ({ ...view(client), clientSecret });
  return router({
    list: query(ListClients, z.array(ListedClient), async (input) =>
      withPartnerName((await clients.list(input)).map(view), partnerNames),
    ),
    count: query(ListClients.omit(pageFields), Total, (input) => clients.count(input)),
    show: query(ClientReference, ClientView, async ({ clientId }) => view(await clients.show(clientId))),
    create: mutation(CreateClient, ClientWithSecret, async (input, actor) =>
      viewNew(await clients.create(input, actor)),
    ),
    update: mutation(UpdateClient, ClientView, async (input, actor) =>
      view(await clients.update(input, actor)),
    ),
    rotateSecret: mutation(RotateClientSecret, ClientWithSecret, async (input, actor) =>
      viewNew(await clients.rotateSecret(input, actor)),
    ),
    disable: mutation(ClientReference, ClientView, async ({ clientId }, actor) =>
      view(await clients.disable(clientId, actor)),
    ),
    enable: mutation(ClientReference, ClientView, async ({ clientId }, actor) =>
      view(await clients.enable(clientId, actor)),
    ),
  });
}

/** The procedures of webhook endpoints. The feature `webhooks` has the procedures of deliveries. */
function endpointProcedures({ keys, endpoints, clock, onResumed }: Dependencies) {
  const view = (key: ApiKey) => viewEndpoint(key, clock.now());
  const viewNew = ({ key, signingSecret }: FreshEndpoint) => ({ ...view(key), signingSecret });
  return router({
    show: query(KeyReference, EndpointView, async ({ keyId }) => view(await keys.show(keyId))),
    set: mutation(SetEndpoint, EndpointWithSecret, async (input, actor) =>
      viewNew(await endpoints.set(input, actor)),
    ),
    changeUrl: mutation(SetEndpoint, EndpointView, async (input, actor) =>
      view(await endpoints.changeUrl(input, actor)),
    ),
    unset: mutation(KeyReference, EndpointView, async ({ keyId }, actor) =>
      view(await endpoints.unset(keyId, actor)),
    ),
    pause: mutation(PauseEndpoint, EndpointView, async ({ keyId, until }, actor) =>
      view(await endpoints.pause({ keyId, until: new Date(until) }, actor)),
    ),
    resume: mutation(KeyReference, EndpointView, async ({ keyId }, actor) => {
      const key = await endpoints.resume(keyId, actor);
      await onResumed(keyId);
      return view(key);
    }),
    setNotices: mutation(SetNotices, EndpointView, async (input, actor) =>
      view(await endpoints.setNotices(input, actor)),
    ),
    prepareSecret: mutation(KeyReference, EndpointWithSecret, async ({ keyId }, actor) =>
      viewNew(await endpoints.prepareSecret(keyId, actor)),
    ),
    switchSecret: mutation(SwitchSecret, EndpointView, async (input, actor) =>
      view(await endpoints.switchSecret(input, actor)),
    ),
    rotateSecret: mutation(KeyReference, EndpointWithSecret, async ({ keyId }, actor) =>
      viewNew(await endpoints.rotateSecret(keyId, actor)),
    ),
  });
}
