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
import { OldSecret } from '../../contracts/admin/keys.ts';
import { pageFields, Total } from '../../contracts/admin/references.ts';
import { mutation, query, router } from '../platform/admin-api/procedures.ts';
import { viewAs } from '../platform/admin-api/view.ts';
import { type PartnerNames, withPartnerName } from '../platform/database/partner-names.ts';
import type { Integration } from './integration-store.ts';
import type { FreshIntegration, Integrations } from './integrations.ts';

/** Shows an integration to operators, and its old secret while it is accepted. @param now milliseconds since the epoch */
function viewIntegration(integration: Integration, now: number): IntegrationView {
  const { oldSecret } = integration;
  const isOldAccepted = oldSecret && oldSecret.expiresAt.getTime() > now;
  return viewAs(IntegrationView, {
    ...integration,
    id: integration._id,
    oldSecret: isOldAccepted ? viewAs(OldSecret, oldSecret) : null,
  });
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
