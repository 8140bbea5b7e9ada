import type { AuditLogEntry } from '../../contracts/admin/audit-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import { createMemberProcedures } from './admin.ts';
import { createMembers } from './members.ts';
import type { PortalStores } from './store.ts';

interface Dependencies {
  stores: PortalStores;
  /** Whether SVC_PORTAL is on. */
  isOn: boolean;
  clock: Pick<Clock, 'now'>;
  keyring: Pick<Keyring, 'id'>;
  /** Root of all links, without a trailing slash. */
  baseUrl: string;
  /** @throws ApiError `not_found` */
  requirePartner: (partnerId: string) => Promise<unknown>;
  actsOf: (
    actors: readonly string[],
    page: { limit: number; after?: string | undefined },
  ) => Promise<AuditLogEntry[]>;
}

/** Members of partners, and what they may do. */
export function createPortalFeature(dependencies: Dependencies) {
  const { stores, isOn, clock, keyring, baseUrl, requirePartner, actsOf } = dependencies;
  const members = createMembers({ stores, clock, idKey: keyring.id, requirePartner });
  const linkOf = (secret: string) => `${baseUrl}/portal/invitations/${secret}`;
  return {
    members,
    procedures: createMemberProcedures({ isOn, members, linkOf, clock, actsOf }),
  };
}
