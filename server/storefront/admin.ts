import { z } from 'zod';
import {
  CreateIntegration,
  IntegrationReference,
  IntegrationView,
  IntegrationWithSecret,
  ListIntegrations,
  UpdateIntegration,
} from '../../contracts/admin/integrations.ts';
import { pageFields, Total } from '../../contracts/admin/references.ts';
import { procedure, router } from '../platform/admin-api/procedures.ts';
import type { Integration } from './integration-store.ts';
import type { FreshIntegration, Integrations } from './integrations.ts';

function view(integration: Integration): IntegrationView {
  const { _id, partnerId, clientId, mode, status, shops, secretVersion, last4, createdAt, rotatedAt } =
    integration;
  return {
    id: _id,
    partnerId,
    clientId,
    mode,
    status,
    shops,
    secretVersion,
    last4: last4 ?? null,
    createdAt: createdAt.toISOString(),
    rotatedAt: rotatedAt?.toISOString() ?? null,
  };
}

const withSecret = ({ integration, integrationSecret }: FreshIntegration): IntegrationWithSecret => ({
  ...view(integration),
  integrationSecret,
});

/** What `svcadmin integrations` calls. */
export function createStorefrontProcedures(integrations: Integrations) {
  return {
    integrations: router({
      list: procedure
        .input(ListIntegrations)
        .output(z.array(IntegrationView))
        .query(async ({ input }) => (await integrations.list(input)).map(view)),
      count: procedure
        .input(ListIntegrations.omit(pageFields))
        .output(Total)
        .query(({ input }) => integrations.count(input)),
      show: procedure
        .input(IntegrationReference)
        .output(IntegrationView)
        .query(async ({ input }) => view(await integrations.show(input.integrationId))),
      create: procedure
        .input(CreateIntegration)
        .output(IntegrationWithSecret)
        .mutation(async ({ input, ctx }) => withSecret(await integrations.create(input, ctx.actor))),
      update: procedure
        .input(UpdateIntegration)
        .output(IntegrationView)
        .mutation(async ({ input, ctx }) => view(await integrations.update(input, ctx.actor))),
      rotateSecret: procedure
        .input(IntegrationReference)
        .output(IntegrationWithSecret)
        .mutation(async ({ input, ctx }) =>
          withSecret(await integrations.rotateSecret(input.integrationId, ctx.actor)),
        ),
      disable: procedure
        .input(IntegrationReference)
        .output(IntegrationView)
        .mutation(async ({ input, ctx }) => view(await integrations.disable(input.integrationId, ctx.actor))),
    }),
  };
}
