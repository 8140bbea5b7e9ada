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
import { mutation, query, router } from '../platform/admin-api/procedures.ts';
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
      list: query(ListIntegrations, z.array(ListedIntegration), async (input) =>
        withPartnerName((await integrations.list(input)).map(view), partnerNames),
      ),
      count: query(ListIntegrations.omit(pageFields), Total, (input) => integrations.count(input)),
      show: query(IntegrationReference, IntegrationView, async ({ integrationId }) =>
        view(await integrations.show(integrationId)),
      ),
      create: mutation(CreateIntegration, IntegrationWithSecret, async (input, actor) =>
        withSecret(await integrations.create(input, actor)),
      ),
      update: mutation(UpdateIntegration, IntegrationView, async (input, actor) =>
        view(await integrations.update(input, actor)),
      ),
      rotateSecret: mutation(RotateIntegrationSecret, IntegrationWithSecret, async (input, actor) =>
        withSecret(await integrations.rotateSecret(input, actor)),
      ),
      disable: mutation(IntegrationReference, IntegrationView, async ({ integrationId }, actor) =>
        view(await integrations.disable(integrationId, actor)),
      ),
    }),
  };
}
