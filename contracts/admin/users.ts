import { z } from 'zod';
import { ClaimName, ClaimValue } from '../claims.ts';
import { DateTime, Mode } from '../identifiers.ts';
import { EnrollmentStatus, ListedEnrollment } from './enrollments.ts';
import { OperatorReason, page, readReason, reference, wrongKindMessage } from './references.ts';

/** All data that are stored about a person. */
export const UserView = z.strictObject({
  id: z.string(),
  mode: Mode,
  /** The known claims. A `fresh` claim need not be verified again. After `keptUntil`, the next sweep deletes the claim. */
  claims: z.array(
    z.strictObject({
      name: ClaimName,
      value: ClaimValue,
      evaluatedAt: DateTime,
      fresh: z.boolean(),
      keptUntil: DateTime,
    }),
  ),
  enrollments: z.array(
    z.strictObject({
      id: z.string(),
      partnerId: z.string(),
      clientId: z.string(),
      sub: z.string(),
      status: EnrollmentStatus,
    }),
  ),
  /** Passkeys of the user. `synced`: kept on several devices. */
  passkeys: z.array(
    z.strictObject({
      id: z.string(),
      createdAt: DateTime,
      lastUsedAt: DateTime.nullable(),
      synced: z.boolean(),
    }),
  ),
  sessions: z.number().int(),
  /** Whether a source has seen this person under another identity. */
  duplicate: z.boolean(),
  /** A legal hold: until its end, nothing of the user is erased, forgotten or expires. */
  hold: z
    .strictObject({ until: DateTime, reason: z.string(), since: DateTime, operatorId: z.string() })
    .nullable(),
  createdAt: DateTime,
  /** When the user is deleted with the enrollments and passkeys. Null for a user who is kept until an erasure. */
  keptUntil: DateTime.nullable(),
});
export type UserView = z.infer<typeof UserView>;

/** A user by `usr_…`, by one of their enrollments or passkeys, or by the `sub` that a partner knows. */
export const FindUser = z.strictObject({
  user: z
    .string()
    .min(1)
    .max(128)
    .superRefine((text, context) => {
      // The id of an enrollment or of a passkey leads to its user.
      const namesItsUser = /^(enr|pky)_/.test(text);
      const message = namesItsUser ? undefined : wrongKindMessage(text, 'user');
      if (message) context.addIssue({ code: 'custom', message });
    }),
  ...readReason,
});

export const UserReference = z.strictObject({
  // A `sub` is not accepted: the audit log keeps the input, and must not name an erased person.
  userId: z.string().regex(/^usr_[0-9A-Za-z]{22}$/, { error: 'expected the id of a user, usr_…' }),
});

export const HoldUser = UserReference.extend({ until: DateTime, reason: OperatorReason });
export type HoldUser = z.infer<typeof HoldUser>;
export const ReleaseUser = UserReference.extend({ reason: OperatorReason });
/** A user whose records are held; `until` is null after the release. */
export const HeldUser = z.strictObject({ id: z.string(), mode: Mode, until: DateTime.nullable() });

export const ListHolds = z.strictObject(page);
/** A user under a legal hold. `operatorName`: who set it; null if an earlier build stored the hold. */
export const ListedHold = z.strictObject({
  id: z.string(),
  mode: Mode,
  ...UserView.shape.hold.unwrap().shape,
  operatorName: z.string().nullable(),
});

export const PasskeyReference = z.strictObject({
  userId: UserReference.shape.userId,
  passkeyId: reference('passkey'),
});
export const RemovedPasskey = z.strictObject({ id: z.string(), userId: z.string() });

/** The numbers of erased records. Tokens of the user are revoked immediately. The charges stay in the ledger. */
export const ErasedUser = z.strictObject({
  id: z.string(),
  enrollments: z.number().int(),
  sessions: z.number().int(),
  accesses: z.number().int(),
  events: z.number().int(),
});

/** A customer of a shop, as named in the exchange of a code. */
const Customer = z.strictObject({
  clientId: reference('client'),
  shop: z.string().trim().toLowerCase().min(1).max(253),
  customerId: z.string().min(1).max(256),
});

/** A person by `usr_…`, an enrollment, a session or the `sub` that a partner knows, or as the customer of a shop. */
export const FindUsers = z
  .strictObject({
    of: z.string().min(1).max(128).optional(),
    customer: Customer.optional(),
    ...readReason,
    ...page,
  })
  .refine(({ of, customer }) => (of === undefined) !== (customer === undefined), {
    error: 'give either a reference or a customer',
  });
export type FindUsers = z.infer<typeof FindUsers>;

/** An enrollment of a found person. */
export const FoundUser = z.strictObject({ userId: z.string(), ...ListedEnrollment.shape });
