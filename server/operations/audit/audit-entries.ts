import type { ListAuditLog } from '../../../contracts/admin/audit-log.ts';
import type { Unpaged } from '../../../contracts/admin/references.ts';
import type { ErrorCode } from '../../../contracts/errors.ts';
import { identifierKind, Mode } from '../../../contracts/identifiers.ts';
import type { AuditEntry } from '../../platform/database/audit/audit-entry.ts';
import { period } from '../../platform/database/reads/look-through.ts';

/** An entry of the log. Entries are added, but never changed or deleted. */
export type StoredEntry = Omit<NewEntry, 'id'> & { _id: string };

export type NewEntry = Omit<AuditEntry, 'target'> & {
  /** The id of the record that the call is about; null if its input names none, or several. */
  target: string | null;
  /** The ids of the records if they are several, such as deliveries that are sent again. */
  targets?: string[];
  /** For a read: its reason and counts. For any other call without the values before and after a change: its input. */
  input?: Record<string, unknown>;
  /** Absent if the call changed something. */
  outcome?: 'unchanged' | 'refused' | 'read';
  error?: ErrorCode;
};

/** A condition of a query. */
type Condition = Record<string, unknown>;

/**
 * Returns the partner that an entry is about. The id of a wallet is `partner:mode`. The target of a refund is a charge, so the
 * wallet in `after` names its partner.
 */
export function partnerOf(entry: Omit<NewEntry, 'id'>): Pick<NewEntry, 'partnerId'> {
  const wallet = entry.after?.['wallet'];
  const record = typeof wallet === 'string' ? wallet : entry.target;
  const partnerId = entry.partnerId ?? /^ptr_[^:]+/.exec(record ?? '')?.[0];
  return partnerId === undefined ? {} : { partnerId };
}

/**
 * Returns the query of entries about a record. Entries about a partner include those about its wallets. The target of a refund is
 * a charge, so refunds are found by the wallet in `after`. The target of a bulk job is the job, so it is found by its filter.
 */
function ofRecord(target: string): Condition {
  if (target.startsWith('key_')) return { $or: [{ target }, { 'after.filter.keyId': target }] };
  if (identifierKind(target) === 'delivery') return { $or: [{ target }, { targets: target }] };
  if (!target.startsWith('ptr_')) return { target };
  const [partnerId = '', mode] = target.split(':');
  const wallets = mode === undefined ? Mode.options.map((each) => `${partnerId}:${each}`) : [target];
  return {
    $or: [
      { target: { $in: [target, ...wallets] } },
      { partnerId, action: 'wallets.refund', 'after.wallet': { $in: wallets } },
      ...(mode === undefined ? [{ partnerId, action: 'bulk.start' }] : []),
    ],
  };
}

export interface AuditFilter extends Omit<Unpaged<ListAuditLog>, 'user' | 'action'> {
  actions?: readonly string[] | undefined;
  among?: readonly string[] | undefined;
  /** Only entries of this operator, and entries of all operators about changes of partners' records. */
  seenBy?: string | undefined;
  /** Without reads by operators. */
  changesOnly?: boolean;
}

/** The condition of entries about records of partners and their wallets, without reads and without users. */
const ofPartners = { target: /^(ptr|cli|key|int|txn)_/, outcome: { $ne: 'read' } } as const;
export const isOfPartners = ({ target, outcome }: StoredEntry): boolean =>
  ofPartners.target.test(target ?? '') && outcome !== 'read';

export const conditionsOf = ({
  target,
  among,
  actor,
  actions,
  since,
  until,
  seenBy,
  partnerId,
  changesOnly,
}: AuditFilter): Condition => ({
  $and: [
    target ? ofRecord(target) : {},
    among ? { target: { $in: among } } : {},
    actions ? { action: { $in: actions } } : {},
    partnerId ? { partnerId } : {},
    changesOnly ? { outcome: { $ne: 'read' } } : {},
    actor ? { $or: [{ operatorId: actor }, { operatorName: actor }] } : {},
    period('at', since, until),
    seenBy ? { $or: [{ operatorId: seenBy }, ofPartners] } : {},
  ],
});
