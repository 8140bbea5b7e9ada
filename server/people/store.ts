import type { Db } from 'mongodb';
import { createJointReads } from '../platform/database/reads/joint-reads.ts';
import type { IndexDeclaration } from '../platform/database/schema/indexes.ts';
import { createSessionStore, indexes as sessionIndexes } from '../sessions/session-store.ts';
import { createEnrollmentStore, indexes as enrollmentIndexes } from './enrollments/enrollment-store.ts';
import { createPasskeyStore, indexes as passkeyIndexes } from './passkeys/passkey-store.ts';
import { createUserStore, indexes as userIndexes } from './users/user-store.ts';

export const indexes: IndexDeclaration[] = [
  ...sessionIndexes,
  ...userIndexes,
  ...enrollmentIndexes,
  ...passkeyIndexes,
];

/**
 * The stores of this feature.
 * @param read combines reads of one tick, also of other features' collections, into one command
 */
export const createVerificationStores = (db: Db, read = createJointReads(db)) => ({
  sessions: createSessionStore(db, read),
  users: createUserStore(db),
  enrollments: createEnrollmentStore(db),
  passkeys: createPasskeyStore(db),
});
export type VerificationStores = ReturnType<typeof createVerificationStores>;
