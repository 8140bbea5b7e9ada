import type { Mode } from '../../contracts/identifiers.ts';
import type { PartnerNames } from '../platform/database/partner-names.ts';
import { ApiError } from '../platform/errors.ts';
import { createPartners, type PartnerDependencies } from './admin-partners.ts';
import { type BrandDecision, createBrandProcedures } from './brands/admin-brands.ts';
import { createLogoMaking } from './brands/logo-making.ts';
import { createClientProcedures, type Source } from './clients/admin-clients.ts';
import { createDirectory } from './directory/directory.ts';
import { createEndpointProcedures, type EndpointDependencies } from './keys/admin-endpoints.ts';
import { createKeyProcedures } from './keys/admin-keys.ts';
import type { ApiKey } from './keys/key-store.ts';
import { createClientSecrets } from './keys/secrets.ts';
import type { PartnersStores } from './store.ts';
import { createWarningSettings } from './warning-settings.ts';

interface Dependencies
  extends Pick<PartnerDependencies, 'openWallets' | 'findReplaced' | 'onSuspended' | 'limit' | 'clock'>,
    Pick<EndpointDependencies, 'onResumed' | 'sealing'> {
  stores: PartnersStores;
  /** Called when a key or client has authenticated, with the hash of the secret. */
  onSecretUsed: {
    apiKey: (key: ApiKey, hash: string) => void;
    client: (clientId: string, hash: string, lastUsedAt: Date | undefined) => void;
  };
  partnerNames: PartnerNames;
  /** Returns why events may not be sent to `url` for a key of this mode; undefined if they may. */
  checkWebhookUrl: (url: string, mode: Mode) => string | undefined;
  logoAddress: (id: string) => string;
  /** Called after an operator has decided about a member's change of a live brand. */
  onBrandDecided: (decision: BrandDecision) => Promise<void>;
  /** The verification sources of this installation. Without the list, any name is accepted. */
  sources?: readonly Source[];
}

/** Makes the feature of partners, API keys and clients: a directory for other features, and procedures of the admin API. */
export function createPartnersFeature(dependencies: Dependencies) {
  const { stores, onSecretUsed, clock, sealing, partnerNames, checkWebhookUrl, sources } = dependencies;
  const { openWallets, onResumed, onSuspended, limit } = dependencies;
  const directory = createDirectory({ stores, clock, onSecretUsed: onSecretUsed.apiKey });
  function assertWebhookUrl(url: string, mode: Mode): void {
    const fault = checkWebhookUrl(url, mode);
    if (fault) throw new ApiError('refused', { description: fault });
  }
  const { procedures, ...partners } = createPartners({
    store: stores.partners,
    searches: stores.search,
    findReplaced: dependencies.findReplaced,
    logos: stores.logos,
    makeLogo: createLogoMaking(),
    limit,
    clock,
    openWallets,
    directory,
    assertWebhookUrl,
    onSuspended,
  });

  return {
    directory,
    partners,
    warningSettings: createWarningSettings({ store: stores.partners, clock }),
    clientSecrets: createClientSecrets({ clock, onSecretUsed: onSecretUsed.client }),
    procedures: {
      partners: procedures,
      brands: createBrandProcedures({
        ...stores,
        clock,
        directory,
        partnerNames,
        logoAddress: dependencies.logoAddress,
        onDecided: dependencies.onBrandDecided,
      }),
      keys: createKeyProcedures({
        store: stores.keys,
        partners: stores.partners,
        uses: stores.keyUses,
        clock,
        partnerNames,
      }),
      clients: createClientProcedures({
        store: stores.clients,
        keys: stores.keys,
        partners: stores.partners,
        clock,
        directory,
        sources,
        partnerNames,
      }),
      webhooks: createEndpointProcedures({
        store: stores.keys,
        sealing,
        clock,
        assertWebhookUrl,
        onResumed,
      }),
    },
  };
}
export type PartnersFeature = ReturnType<typeof createPartnersFeature>;
