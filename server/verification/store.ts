import type { Db } from 'mongodb';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import { createJointReads } from '../platform/database/joint-reads.ts';
import {
  createPasskeyStore,
  type PasskeyStore,
  indexes as passkeyIndexes,
} from './passkeys/passkey-store.ts';
import {
  createEnrollmentStore,
  type EnrollmentStore,
  indexes as enrollmentIndexes,
} from './people/enrollment-store.ts';
import { createUserStore, type UserStore, indexes as userIndexes } from './people/user-store.ts';
import { createSessionStore, type SessionStore, indexes as sessionIndexes } from './session/session-store.ts';
import {
  createRequestLockStore,
  type RequestLockStore,
} from './sources/identity-wallet/request-lock-store.ts';

/** The stores of this feature. */
export interface VerificationStores {
  sessions: SessionStore;
  requestLocks: RequestLockStore;
  users: UserStore;
  enrollments: EnrollmentStore;
  passkeys: PasskeyStore;
}

export const indexes: IndexDeclaration[] = [
  ...sessionIndexes,
  ...userIndexes,
  ...enrollmentIndexes,
  ...passkeyIndexes,
];

/** @param read combines reads of one tick, also of other features' collections, into one command */
export function createVerificationStores(db: Db, read = createJointReads(db)): VerificationStores {
  return {
    sessions: createSessionStore(db, read),
    requestLocks: createRequestLockStore(db),
    users: createUserStore(db),
    enrollments: createEnrollmentStore(db),
    passkeys: createPasskeyStore(db),
  };
}
