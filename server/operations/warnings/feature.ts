import type { PartnersFeature } from '../../partners/feature.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Publish } from '../../platform/database/event-draft.ts';
import type { PartnerNames } from '../../platform/database/partner-names.ts';
import type { SendMail } from '../../platform/mail.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import type { Stores } from '../stores.ts';
import { createWarningProcedures } from './admin.ts';
import { createWarningSender, type Recipients } from './send.ts';
import type { Warning } from './warning.ts';
import { createWarningSources } from './warning-conditions.ts';
import { createWarningWatch } from './watch.ts';

interface Dependencies {
  stores: Stores;
  config: Pick<Config, 'baseUrl' | 'portal'>;
  /** Undefined if no mail server is configured. */
  send: SendMail | undefined;
  settings: PartnersFeature['warningSettings'];
  publish: Publish;
  clock: Clock;
  logger: Logger;
  partnerNames: PartnerNames;
}

/** The most API keys of a partner and mode that receive a notice. */
const mostKeysPerPartner = 50;

/** Makes the feature of warnings. It finds problems in the records of all features. */
export function createWarnings(dependencies: Dependencies) {
  const { stores, config, send, settings, publish, clock, logger, partnerNames } = dependencies;
  const store = stores.warnings.warnings;
  const { partners, keys } = stores.partners;

  async function findRecipients({
    partnerId,
    mode,
  }: Pick<Warning, 'partnerId' | 'mode'>): Promise<Recipients> {
    const [partner, addressesOfMembers, keysWithNotices] = await Promise.all([
      partners.find(partnerId),
      config.portal ? stores.members.members.warningEmails(partnerId) : [],
      keys.list({ partnerId, mode, status: 'active', notices: true }, { limit: mostKeysPerPartner }),
    ]);
    return {
      name: partner?.name ?? partnerId,
      // Warnings about test mode are not sent by e-mail.
      emails:
        mode === 'live' ? [...new Set([...(partner?.warnings?.emails ?? []), ...addressesOfMembers])] : [],
      keyIds: keysWithNotices.map(({ _id }) => _id),
    };
  }

  const sender = createWarningSender({ store, findRecipients, publish, send, links: config });
  return {
    procedures: createWarningProcedures(store, settings, partnerNames),
    sweep: createWarningWatch({ store, sources: createWarningSources(stores, clock), sender, clock, logger }),
  };
}
