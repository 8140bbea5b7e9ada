import type { OperatorRole } from '../../../../contracts/admin/operators.ts';
import type { ErrorCode } from '../../../../contracts/errors.ts';

/** The part of an audit entry that is known before the change: who does what. */
export interface Actor {
  operatorId: string;
  operatorName: string;
  /** The role of the operator at the call. Absent for members and users. */
  operatorRole?: OperatorRole;
  /** The procedure, for instance `partners.suspend`. */
  action: string;
  requestId: string;
  address: string;
  /** The partner of a member. Absent for operators. */
  partnerId?: string;
  /** Whether the call only checks what it would change (`endDryRun`). No entry is written then. */
  isDryRun?: true;
}

/** The result of an operator's call. `repeated`: an earlier call has done the same, so this one changed nothing. */
export type CallResult = { outcome: 'done'; repeated: boolean } | { outcome: 'refused'; error: ErrorCode };

/** What the audit log records of a call that changes something. */
export interface AuditRule<Target extends string | null = string | null> {
  /**
   * The field of the input with the id of what is changed, or with a list of ids, of which only one alone is a target. `wallet`
   * for `partnerId` and `mode`. Null if the input has no id.
   */
  target: Target;
  /**
   * The collection whose document carries the entry of the change until it is copied. `several` if documents of several
   * collections may carry entries. `none` if the changed document carries none, so the call itself gets an entry.
   */
  record: string;
}

/** One change by an operator. It is written into the changed document together with the change, and contains no secrets. */
export interface AuditEntry extends Actor {
  /** Identifies the entry, so that copying it to the audit log is idempotent. */
  id: string;
  at: Date;
  /** The id of the changed record. */
  target: string;
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
}

/** Makes the entry of a change to `target`. A request changes a record at most once, so the two ids make the entry's id. */
export function auditEntry(
  actor: Actor,
  target: { id: string; at: number },
  difference: Pick<AuditEntry, 'before' | 'after'>,
): AuditEntry {
  return {
    ...actor,
    id: `${actor.requestId}:${target.id}`,
    at: new Date(target.at),
    target: target.id,
    ...difference,
  };
}
