import type { ClientView } from '../../../contracts/admin/clients.ts';
import type { StatusView } from '../../../contracts/admin/status.ts';
import type { AdminRouter } from '../../operations/admin-router.ts';
import type { MemberMail } from '../../partners/members/member-mail.ts';
import type { MembersStores } from '../../partners/members/store.ts';
import type { AdminContext } from '../../platform/admin-api/procedures.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Language } from '../../platform/http/browser/language.ts';
import type { CallerKind } from '../../platform/http/limits/in-flight.ts';
import type { RequestLimit } from '../../platform/http/limits/request-limits.ts';
import type { Keyring } from '../../platform/keys/keyring.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import type { FindForeign } from './calls/bind-input.ts';

/** What the process gives to the portal. */
export interface PortalDependencies {
  router: AdminRouter;
  stores: MembersStores;
  clock: Pick<Clock, 'now'>;
  keyring: Pick<Keyring, 'id'>;
  recordCall: NonNullable<AdminContext['recordCall']>;
  mailMember: MemberMail['toMember'];
  findForeign: FindForeign;
  limit: RequestLimit;
  logger: Pick<Logger, 'warn'>;
  /** Called for each request that is refused because too many are in flight. */
  onShed: (kind: CallerKind) => void;
  /** Renders the consent page of a client with these settings. */
  previewConsent: (
    wanted: Pick<ClientView, 'brandName' | 'brandColor' | 'purpose' | 'privacyUrl' | 'claims' | 'mode'> & {
      name: string;
      logo: string | null;
      redirectUri: string;
    },
    language: Language,
  ) => string;
  /** What the page about the service shows. */
  about: Pick<StatusView, 'version' | 'contract' | 'environment' | 'baseUrl'>;
  /** @throws ApiError `not_found` */
  showPartner: (partnerId: string) => Promise<{ name: string; status: string }>;
}
