import type { Db } from 'mongodb';
import { createJointReads } from '../platform/database/reads/joint-reads.ts';
import { createSessionStore } from '../sessions/session-store.ts';
import { createEnrollmentStore } from './enrollments/enrollment-store.ts';
import { createPasskeyStore } from './passkeys/passkey-store.ts';
import { createUserStore } from './users/user-store.ts';

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
