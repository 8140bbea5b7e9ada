import type { Clock } from '../platform/clock.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import { type AuditEntriesOf, createMemberProcedures } from './admin.ts';
import { createMembers } from './members.ts';
import type { MembersStores } from './store.ts';

interface Dependencies {
  stores: MembersStores;
  /** Whether SVC_PORTAL is on. */
  isOn: boolean;
  clock: Pick<Clock, 'now'>;
  keyring: Pick<Keyring, 'id'>;
  /** The public address of the service, without a trailing slash. */
  baseUrl: string;
  /** @throws ApiError `not_found` */
  requirePartner: (partnerId: string) => Promise<unknown>;
  auditEntriesOf: AuditEntriesOf;
}

/** Members of partners, and the commands about them. */
export function createMembersFeature(dependencies: Dependencies) {
  const { stores, isOn, clock, keyring, baseUrl, requirePartner, auditEntriesOf } = dependencies;
  const members = createMembers({ stores, clock, idKey: keyring.id, requirePartner });
  const linkOf = (secret: string) => `${baseUrl}/portal/invitations/${secret}`;
  return {
    members,
    procedures: createMemberProcedures({ isOn, members, linkOf, clock, auditEntriesOf }),
  };
}
