import { z } from 'zod';
import {
  CreateIntegration,
  IntegrationReference,
  IntegrationView,
  IntegrationWithSecret,
  ListedIntegration,
  ListIntegrations,
  RotateIntegrationSecret,
  UpdateIntegration,
} from '../../contracts/admin/integrations.ts';
import { pageFields, Total } from '../../contracts/admin/references.ts';
import { procedure, router } from '../platform/admin-api/procedures.ts';
import { type PartnerNames, withPartnerName } from '../platform/database/partner-names.ts';
import type { Integration } from './integration-store.ts';
import type { FreshIntegration, Integrations } from './integrations.ts';

/** Shows the old secret of an integration while it is accepted. @param now milliseconds since the epoch */
function viewOldSecret(secret: Integration['oldSecret'], now: number): IntegrationView['oldSecret'] {
  if (!secret || secret.expiresAt.getTime() <= now) return null;
  const { last4, expiresAt, lastUsedAt } = secret;
  return { last4, expiresAt: expiresAt.toISOString(), lastUsedAt: lastUsedAt?.toISOString() ?? null };
}

/** Shows an integration to operators. @param now milliseconds since the epoch */
function viewIntegration(integration: Integration, now: number): IntegrationView {
  const { _id, partnerId, clientId, mode, status, shops, secretVersion, createdAt } = integration;
  const { last4, rotatedAt, lastUsedAt, oldSecret } = integration;
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
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    oldSecret: viewOldSecret(oldSecret, now),
  };
}

/** Makes the procedures that `svcadmin integrations` calls. */
export function createStorefrontProcedures(
  integrations: Integrations,
  { clock, partnerNames }: { clock: { now(): number }; partnerNames: PartnerNames },
) {
  const view = (integration: Integration) => viewIntegration(integration, clock.now());
  const withSecret = ({ integration, integrationSecret }: FreshIntegration): IntegrationWithSecret => ({
    ...view(integration),
    integrationSecret,
  });

  return {
    integrations: router({
      list: procedure
        .input(ListIntegrations)
        .output(z.array(ListedIntegration))
        .query(async ({ input }) =>
          withPartnerName((await integrations.list(input)).map(view), partnerNames),
        ),
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
        .input(RotateIntegrationSecret)
        .output(IntegrationWithSecret)
        .mutation(async ({ input, ctx }) => withSecret(await integrations.rotateSecret(input, ctx.actor))),
      disable: procedure
        .input(IntegrationReference)
        .output(IntegrationView)
        .mutation(async ({ input, ctx }) => view(await integrations.disable(input.integrationId, ctx.actor))),
    }),
  };
}
