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
import { procedure, router } from '../platform/admin-api/procedures.ts';
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
    list: procedure
      .input(ListPartners)
      .output(z.array(PartnerView))
      .query(async ({ input }) => (await partners.list(input)).map(viewPartner)),
    count: procedure
      .input(ListPartners.omit(pageFields))
      .output(Total)
      .query(({ input }) => partners.count(input)),
    search: procedure
      .input(SearchPartners)
      .output(z.array(FoundPartner))
      .query(({ input }) => search(input)),
    show: procedure
      .input(PartnerReference)
      .output(PartnerView)
      .query(async ({ input }) => viewPartner(await partners.show(input.partnerId))),
    // Checks the addresses of a planned partner, before a command makes the first of its records. It makes them in test mode.
    check: procedure
      .input(PlannedPartner)
      .output(z.literal('sound'))
      .query(({ input: { redirectUris, webhookUrl } }) => {
        assertRedirectUris(redirectUris, 'test');
        if (webhookUrl !== undefined) endpoints.assertUrl(webhookUrl, 'test');
        return 'sound' as const;
      }),
    create: procedure
      .input(CreatePartner)
      .output(PartnerView)
      .mutation(async ({ input, ctx }) => viewPartner(await partners.create(input.name, ctx.actor))),
    activate: procedure
      .input(PartnerReference)
      .output(PartnerView)
      .mutation(async ({ input, ctx }) => viewPartner(await partners.activate(input.partnerId, ctx.actor))),
    setLogo: procedure
      .input(SetLogo)
      .output(PartnerView)
      .mutation(async ({ input: { partnerId, image }, ctx }) =>
        viewPartner(await logos.set(partnerId, image, ctx.actor)),
      ),
    removeLogo: procedure
      .input(PartnerReference)
      .output(PartnerView)
      .mutation(async ({ input, ctx }) => viewPartner(await logos.remove(input.partnerId, ctx.actor))),
    suspend: procedure
      .input(PartnerReference)
      .output(PartnerView)
      .mutation(async ({ input, ctx }) => viewPartner(await partners.suspend(input.partnerId, ctx.actor))),
  });
}

function keyProcedures(keys: Keys, clock: Pick<Clock, 'now'>, partnerNames: PartnerNames) {
  const view = (key: ApiKey) => viewKey(key, clock.now());
  const viewNew = ({ key, apiKey }: FreshKey) => ({ ...view(key), apiKey });
  return router({
    list: procedure
      .input(ListKeys)
      .output(z.array(ListedKey))
      .query(async ({ input }) => withPartnerName((await keys.list(input)).map(view), partnerNames)),
    count: procedure
      .input(ListKeys.omit(pageFields))
      .output(Total)
      .query(({ input }) => keys.count(input)),
    show: procedure
      .input(KeyReference)
      .output(KeyView)
      .query(async ({ input }) => view(await keys.show(input.keyId))),
    create: procedure
      .input(CreateKey)
      .output(KeyWithSecret)
      .mutation(async ({ input, ctx }) => viewNew(await keys.create(input, ctx.actor))),
    rotate: procedure
      .input(RotateKey)
      .output(KeyWithSecret)
      .mutation(async ({ input, ctx }) => viewNew(await keys.rotate(input, ctx.actor))),
    revoke: procedure
      .input(KeyReference)
      .output(KeyView)
      .mutation(async ({ input, ctx }) => view(await keys.revoke(input.keyId, ctx.actor))),
  });
}

function clientProcedures(clients: Clients, clock: Pick<Clock, 'now'>, partnerNames: PartnerNames) {
  const view = (client: Client) => viewClient(client, clock.now());
  const viewNew = ({ client, clientSecret }: FreshClient) => ({ ...view(client), clientSecret });
  return router({
    list: procedure
      .input(ListClients)
      .output(z.array(ListedClient))
      .query(async ({ input }) => withPartnerName((await clients.list(input)).map(view), partnerNames)),
    count: procedure
      .input(ListClients.omit(pageFields))
      .output(Total)
      .query(({ input }) => clients.count(input)),
    show: procedure
      .input(ClientReference)
      .output(ClientView)
      .query(async ({ input }) => view(await clients.show(input.clientId))),
    create: procedure
      .input(CreateClient)
      .output(ClientWithSecret)
      .mutation(async ({ input, ctx }) => viewNew(await clients.create(input, ctx.actor))),
    update: procedure
      .input(UpdateClient)
      .output(ClientView)
      .mutation(async ({ input, ctx }) => view(await clients.update(input, ctx.actor))),
    rotateSecret: procedure
      .input(RotateClientSecret)
      .output(ClientWithSecret)
      .mutation(async ({ input, ctx }) => viewNew(await clients.rotateSecret(input, ctx.actor))),
    disable: procedure
      .input(ClientReference)
      .output(ClientView)
      .mutation(async ({ input, ctx }) => view(await clients.disable(input.clientId, ctx.actor))),
    enable: procedure
      .input(ClientReference)
      .output(ClientView)
      .mutation(async ({ input, ctx }) => view(await clients.enable(input.clientId, ctx.actor))),
  });
}

/** The procedures of webhook endpoints. The feature `webhooks` has the procedures of deliveries. */
function endpointProcedures({ keys, endpoints, clock, onResumed }: Dependencies) {
  const view = (key: ApiKey) => viewEndpoint(key, clock.now());
  const viewNew = ({ key, signingSecret }: FreshEndpoint) => ({ ...view(key), signingSecret });
  return router({
    show: procedure
      .input(KeyReference)
      .output(EndpointView)
      .query(async ({ input }) => view(await keys.show(input.keyId))),
    set: procedure
      .input(SetEndpoint)
      .output(EndpointWithSecret)
      .mutation(async ({ input, ctx }) => viewNew(await endpoints.set(input, ctx.actor))),
    changeUrl: procedure
      .input(SetEndpoint)
      .output(EndpointView)
      .mutation(async ({ input, ctx }) => view(await endpoints.changeUrl(input, ctx.actor))),
    unset: procedure
      .input(KeyReference)
      .output(EndpointView)
      .mutation(async ({ input, ctx }) => view(await endpoints.unset(input.keyId, ctx.actor))),
    pause: procedure
      .input(PauseEndpoint)
      .output(EndpointView)
      .mutation(async ({ input: { keyId, until }, ctx }) =>
        view(await endpoints.pause({ keyId, until: new Date(until) }, ctx.actor)),
      ),
    resume: procedure
      .input(KeyReference)
      .output(EndpointView)
      .mutation(async ({ input, ctx }) => {
        const key = await endpoints.resume(input.keyId, ctx.actor);
        await onResumed(input.keyId);
        return view(key);
      }),
    setNotices: procedure
      .input(SetNotices)
      .output(EndpointView)
      .mutation(async ({ input, ctx }) => view(await endpoints.setNotices(input, ctx.actor))),
    prepareSecret: procedure
      .input(KeyReference)
      .output(EndpointWithSecret)
      .mutation(async ({ input, ctx }) => viewNew(await endpoints.prepareSecret(input.keyId, ctx.actor))),
    switchSecret: procedure
      .input(SwitchSecret)
      .output(EndpointView)
      .mutation(async ({ input, ctx }) => view(await endpoints.switchSecret(input, ctx.actor))),
    rotateSecret: procedure
      .input(KeyReference)
      .output(EndpointWithSecret)
      .mutation(async ({ input, ctx }) => viewNew(await endpoints.rotateSecret(input.keyId, ctx.actor))),
  });
}
