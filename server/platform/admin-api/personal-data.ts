import type { Mode } from '../../../contracts/identifiers.ts';
import type { Actor } from '../database/audit/audit-entry.ts';
import { ApiError } from '../errors.ts';
import type { Role } from './roles.ts';

/** Replaces a claim's value or a subject that the operator's role may not see. */
export const masked = '(masked)';

/** Whether a role sees claims and subjects. The role ops runs the service and needs neither. */
export const seesPeople = (role: Role): boolean => role !== 'ops';

export function maskSubject<V extends { sub: string | null }>(role: Role, record: V): V {
  return seesPeople(role) || record.sub === null ? record : { ...record, sub: masked };
}

/** Personal data that an operator is about to see. */
export interface PersonalRead {
  /** Our id of the record that is read. Never a subject, because audit entries stay after an erasure. */
  target: string | null;
  /** The modes of the people whose data are shown. */
  modes: readonly Mode[];
  reason?: string | undefined;
  /** How many records of each kind are shown. */
  counts?: Readonly<Record<string, number>>;
}

/** Records the read in the audit log. @throws if it cannot be recorded */
export type RecordRead = (actor: Actor, read: PersonalRead) => Promise<void>;

/**
 * Records a read of personal data. Call it before the data are shown, so that the audit log misses no read.
 * @throws ApiError `reason_required` for live users without a reason, and every error of `record`
 */
export async function noteRead(actor: Actor, read: PersonalRead, record?: RecordRead): Promise<void> {
  if (read.modes.includes('live') && read.reason === undefined) throw new ApiError('reason_required');
  await record?.(actor, { ...read, modes: [...new Set(read.modes)] });
}
