import { z } from 'zod';
import { DateTime } from '../identifiers.ts';
import { OperatorRole } from './operators.ts';
import { page, reference } from './references.ts';

/**
 * A call of an operator that changed something, tried to change something, or read personal data. `before` and `after` contain
 * the changed fields, but never a secret. A call that changed no record, such as sending a delivery again, has its `input`
 * instead. The `input` of a read has its reason. Persons are named only by our identifiers.
 */
export const AuditLogEntry = z.strictObject({
  id: z.string(),
  at: DateTime,
  operatorId: z.string(),
  operatorName: z.string(),
  /** The role of the operator at that time. Null for members and users, and for entries of earlier builds. */
  operatorRole: OperatorRole.nullable(),
  action: z.string(),
  /** The id of the changed record. For a wallet and its limits, it includes the mode: `ptr_…:live`. */
  target: z.string().nullable(),
  /** `unchanged`: the wanted state existed already, so nothing was changed. `read`: personal data were shown. */
  outcome: z.enum(['changed', 'unchanged', 'refused', 'read']),
  /** The error code of a refusal. */
  error: z.string().nullable(),
  before: z.record(z.string(), z.unknown()).nullable(),
  after: z.record(z.string(), z.unknown()).nullable(),
  input: z.record(z.string(), z.unknown()).nullable(),
  requestId: z.string(),
  address: z.string(),
});
export type AuditLogEntry = z.infer<typeof AuditLogEntry>;

export const ListAuditLog = z.strictObject({
  /** The id of the changed record. The id of a partner includes its wallets. */
  target: z.string().min(1).max(128).optional(),
  /** Entries about this partner and its records: keys, clients, integrations, members, enrollments, deliveries, wallets. */
  partnerId: reference('partner').optional(),
  /**
   * The id of a user, a passkey or an enrollment, or a subject. Finds the entries whose target is the user or one of the
   * user's enrollments. An erasure removes the enrollments, and then only the id of the user finds its entries.
   */
  user: z.string().min(1).max(128).optional(),
  /** The id or the name of the operator. */
  actor: z.string().min(1).max(128).optional(),
  /** Actions, commands (`partners suspend`) or beginnings of actions (`partners`). An unknown one is refused. */
  action: z
    .union([z.string().min(1).max(128), z.array(z.string().min(1).max(128)).min(1).max(20)])
    .optional(),
  since: DateTime.optional(),
  until: DateTime.optional(),
  ...page,
});
export type ListAuditLog = z.infer<typeof ListAuditLog>;
