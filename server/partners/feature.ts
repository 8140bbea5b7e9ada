import type { Mode } from '../../contracts/identifiers.ts';
import { ApiError } from '../platform/errors.ts';
import { createPartners } from './admin-partners.ts';
import { createBrandProcedures } from './brands/admin-brands.ts';
import { createClientProcedures } from './clients/admin-clients.ts';
import type { PartnersContext } from './context.ts';
import { createDirectory } from './directory/directory.ts';
import { createIntegrations } from './integrations/admin-integrations.ts';
import { createEndpointProcedures } from './keys/admin-endpoints.ts';
import { createKeyProcedures } from './keys/admin-keys.ts';
import { createClientSecrets } from './keys/secrets.ts';
import { createWarningSettings } from './warning-settings.ts';

interface Dependencies extends Omit<PartnersContext, 'directory' | 'assertWebhookUrl'> {
  /** Returns why events may not be sent to `url` for a key of this mode; undefined if they may. */
  checkWebhookUrl: (url: string, mode: Mode) => string | undefined;
}

/** Makes the feature of partners, API keys and clients: a directory for other features, and procedures of the admin API. */
export function createPartnersFeature(dependencies: Dependencies) {
  const directory = createDirectory(dependencies);
  const context: PartnersContext = {
    ...dependencies,
    directory,
    assertWebhookUrl(url, mode) {
      const description = dependencies.checkWebhookUrl(url, mode);
      if (description) throw new ApiError('refused', { description });
    },
  };
  const { procedures, ...partners } = createPartners(context);
  const { procedures: integrationProcedures, ...integrations } = createIntegrations(context);

  return {
    directory,
    partners,
    integrations,
    warningSettings: createWarningSettings(context),
    clientSecrets: createClientSecrets(context),
    procedures: {
      partners: procedures,
      brands: createBrandProcedures(context),
      keys: createKeyProcedures(context),
      clients: createClientProcedures(context),
      integrations: integrationProcedures,
      webhooks: createEndpointProcedures(context),
    },
  };
}
export type PartnersFeature = ReturnType<typeof createPartnersFeature>;
