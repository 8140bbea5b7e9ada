import { z } from 'zod';
import { ClaimName } from '../claims.ts';
import { DateTime, Mode } from '../identifiers.ts';
import { page, reference } from './references.ts';

/** The exchange of a blocked enrollment's code is refused. */
export const EnrollmentStatus = z.enum(['active', 'blocked']);
export type EnrollmentStatus = z.infer<typeof EnrollmentStatus>;

/** A user's relation to one client (docs/choices.md). `sub` is what the partner knows the user by. */
export const EnrollmentView = z.strictObject({
  id: z.string(),
  partnerId: z.string(),
  clientId: z.string(),
  mode: Mode,
  sub: z.string(),
  status: EnrollmentStatus,
  blockReason: z.string().nullable(),
  consentedClaims: z.array(ClaimName),
  firstSession: z.string(),
  createdAt: DateTime,
});
export type EnrollmentView = z.infer<typeof EnrollmentView>;

export const EnrollmentReference = z.strictObject({ enrollmentId: reference('enrollment') });
export const ListEnrollments = z.strictObject({
  partnerId: reference('partner'),
  sub: z.string().min(1).max(128).optional(),
  ...page,
});
export type ListEnrollments = z.infer<typeof ListEnrollments>;

export const BlockEnrollment = z.strictObject({
  enrollmentId: reference('enrollment'),
  reason: z
    .string()
    .trim()
    .min(1, { error: 'say why' })
    .max(200)
    .regex(/^\P{Cc}+$/u, { error: 'must not contain control characters' }),
});
