import type { Mode } from '../../../contracts/identifiers.ts';
import type { Actor } from '../database/audit-entry.ts';
import { ApiError } from '../errors.ts';
import type { Role } from './roles.ts';

/** What an operator gets instead of a claim's value or of a subject that the role does not see. */
export const masked = '(masked)';

/** Role ops keeps the machinery running: it needs neither claims nor subjects. */
export const seesPeople = (role: Role): boolean => role !== 'ops';

/** A record as this role may see it. */
export function maskSubject<V extends { sub: string | null }>(role: Role, record: V): V {
  return seesPeople(role) || record.sub === null ? record : { ...record, sub: masked };
}

/** Personal data that are about to be shown. */
export interface PersonalRead {
  /** What was asked for, by an identifier of ours: an entry outlives an erasure, so no subject is one. */
  target: string | null;
  /** Of the people whose data are shown. */
  modes: readonly Mode[];
  reason?: string | undefined;
  /** How much is shown. */
  counts?: Readonly<Record<string, number>>;
}

/** Notes the read. @throws where it cannot be noted */
export type RecordRead = (actor: Actor, read: PersonalRead) => Promise<void>;

/**
 * Call this before personal data are shown: nothing is shown that the audit log does not have.
 * @throws ApiError `reason_required` for live users without a reason, and whatever `record` throws
 */
export async function noteRead(actor: Actor, read: PersonalRead, record?: RecordRead): Promise<void> {
  if (read.modes.includes('live') && read.reason === undefined) throw new ApiError('reason_required');
  await record?.(actor, { ...read, modes: [...new Set(read.modes)] });
}
