import { z } from 'zod';
import { ClaimName } from '../claims.ts';
import { DateTime, Mode } from '../identifiers.ts';
import { page, Reason, readReason, reference } from './references.ts';

/** The exchange of a blocked enrollment's code is refused. */
export const EnrollmentStatus = z.enum(['active', 'blocked']);
export type EnrollmentStatus = z.infer<typeof EnrollmentStatus>;

/** A user's relation to one client (docs/choices.md). `sub` is what the partner knows the user by; masked for the role ops. */
export const EnrollmentView = z.strictObject({
  id: z.string(),
  partnerId: z.string(),
  clientId: z.string(),
  mode: Mode,
  sub: z.string(),
  status: EnrollmentStatus,
  blockReason: z.string().nullable(),
  consentedClaims: z.array(ClaimName),
  /** When the user stopped sharing last; null where never. What was consented to by then counts no more. */
  withdrawnAt: DateTime.nullable(),
  firstSession: z.string(),
  createdAt: DateTime,
});
export type EnrollmentView = z.infer<typeof EnrollmentView>;

export const EnrollmentReference = z.strictObject({ enrollmentId: reference('enrollment') });
export const ReadEnrollment = z.strictObject({ ...EnrollmentReference.shape, ...readReason });
export const ListEnrollments = z.strictObject({
  partnerId: reference('partner'),
  sub: z.string().min(1).max(128).optional(),
  ...readReason,
  ...page,
});
export type ListEnrollments = z.infer<typeof ListEnrollments>;

export const BlockEnrollment = z.strictObject({
  enrollmentId: reference('enrollment'),
  reason: Reason,
});
