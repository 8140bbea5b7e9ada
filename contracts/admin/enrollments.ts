import { z } from 'zod';
import { ClaimName } from '../claims.ts';
import { DateTime, Mode } from '../identifiers.ts';
import { OperatorReason, page, readReason, reference } from './references.ts';

/** The status of an enrollment. Codes of a `blocked` enrollment cannot be exchanged. */
export const EnrollmentStatus = z.enum(['active', 'blocked']);

/** The relation of a user to a client (docs/choices.md). `sub` is the partner's identifier of the user. It is masked for the role ops. */
export const EnrollmentView = z.strictObject({
  id: z.string(),
  partnerId: z.string(),
  clientId: z.string(),
  mode: Mode,
  sub: z.string(),
  status: EnrollmentStatus,
  blockReason: z.string().nullable(),
  consentedClaims: z.array(ClaimName),
  /** When the user last withdrew the consent. Consents before that time are void. Null if the user never did. */
  withdrawnAt: DateTime.nullable(),
  firstSession: z.string(),
  createdAt: DateTime,
});
export type EnrollmentView = z.infer<typeof EnrollmentView>;

export const ListedEnrollment = EnrollmentView.extend({ partnerName: z.string().nullable() });

export const EnrollmentReference = z.strictObject({ enrollmentId: reference('enrollment') });
export const ReadEnrollment = z.strictObject({ ...EnrollmentReference.shape, ...readReason });
/** Lists the enrollments of a partner. Those that are blocked can be listed over all partners. */
export const ListEnrollments = z.strictObject({
  partnerId: reference('partner').optional(),
  status: EnrollmentStatus.optional(),
  sub: z.string().min(1).max(128).optional(),
  ...readReason,
  ...page,
});
export type ListEnrollments = z.infer<typeof ListEnrollments>;

export const BlockEnrollment = z.strictObject({
  enrollmentId: reference('enrollment'),
  reason: OperatorReason,
});
