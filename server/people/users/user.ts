import type { Mode } from '../../../contracts/identifiers.ts';
import type { AuditEntry } from '../../platform/database/audit/audit-entry.ts';
import type { KeptClaims } from '../enrollments/freshness.ts';
import type { SnapshotOwner } from '../enrollments/invalidation-store.ts';

/** A person as this service stores them: derived claims, and no other personal data. */
export interface User extends SnapshotOwner {
  mode: Mode;
  /** Keyed hash of the identity that the verification source reported. It is the id of an `Identity`. */
  identity: string;
  claims: KeptClaims;
  /** When the oldest of the claims was evaluated. */
  keptSince?: Date;
  /** Whether a source knows this person under another identity. */
  duplicate?: boolean;
  /** A legal hold on the records. `movedAt`: when their expiry was last moved behind the end. */
  hold?: {
    until: Date;
    reason: string;
    since: Date;
    operatorId: string;
    /** Absent if an earlier build stored the hold. */
    operatorName?: string;
    movedAt?: Date;
  };
  createdAt: Date;
  /** When the user is deleted; absent if the user is kept. */
  purgeAt?: Date;
  /** When the user was erased. No query finds the record any more. The sweep erases again, and then deletes the record. */
  erasedAt?: Date;
  /** Audit entries not yet copied to the audit log; `auditAt` is there while any is left. */
  audit?: AuditEntry[];
  auditAt?: Date;
}

/** Whether a legal hold keeps the records of the user. */
export const isHeld = ({ hold }: Pick<User, 'hold'>, now: Date): boolean =>
  hold !== undefined && hold.until > now;
