import { z } from 'zod';
import { DateTime } from '../identifiers.ts';
import { page } from './references.ts';

/**
 * One call of an operator that changed something, or tried to, or that read personal data. `before` and `after` hold what
 * changed, never a secret; a call that changed no record of its own, such as sending a delivery again, has its `input`
 * instead. A read has its reason there, and names no person but by an identifier of ours.
 */
export const AuditLogEntry = z.strictObject({
  id: z.string(),
  at: DateTime,
  operatorId: z.string(),
  operatorName: z.string(),
  action: z.string(),
  /** A wallet and its limits have the mode in it: `ptr_…:live`. */
  target: z.string().nullable(),
  /** `unchanged`: what was asked for was so already, and nothing moved. `read`: personal data was shown. */
  outcome: z.enum(['changed', 'unchanged', 'refused', 'read']),
  /** Code of the refusal. */
  error: z.string().nullable(),
  before: z.record(z.string(), z.unknown()).nullable(),
  after: z.record(z.string(), z.unknown()).nullable(),
  input: z.record(z.string(), z.unknown()).nullable(),
  requestId: z.string(),
  address: z.string(),
});
export type AuditLogEntry = z.infer<typeof AuditLogEntry>;

export const ListAuditLog = z.strictObject({
  /** Identifier of what was changed; that of a partner includes its wallets. */
  target: z.string().min(1).max(128).optional(),
  /** Identifier or name of the operator. */
  actor: z.string().min(1).max(128).optional(),
  action: z.string().min(1).max(128).optional(),
  since: DateTime.optional(),
  until: DateTime.optional(),
  ...page,
});
export type ListAuditLog = z.infer<typeof ListAuditLog>;
