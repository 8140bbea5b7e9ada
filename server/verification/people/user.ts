import type { ClaimName } from '../../../contracts/claims.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { AuditEntry } from '../../platform/database/audit-entry.ts';
import type { KeptClaim } from './freshness.ts';
import type { SnapshotOwner } from './invalidation-store.ts';

/** A person as far as this service keeps them: derived claims and nothing else. */
export interface User extends SnapshotOwner {
  mode: Mode;
  /** Keyed hash of who the verification source says this is. An `Identity` has it as its id. */
  identity: string;
  claims: Partial<Record<ClaimName, KeptClaim>>;
  /** When the oldest of the claims was evaluated. */
  keptSince?: Date;
  /** Whether a source has met this person under another identity. */
  duplicate?: boolean;
  createdAt: Date;
  /** When they may be deleted; absent for those who are kept. */
  purgeAt?: Date;
  /** When they were erased. The record goes after the sweep's second look; until then no look-up finds it. */
  erasedAt?: Date;
  /** Audit entries not yet copied to the audit log; `auditAt` is there while any is left. */
  audit?: AuditEntry[];
  auditAt?: Date;
}
