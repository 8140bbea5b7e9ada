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
import { type ClaimStore, createClaimStore } from './sources/identity-wallet/claim-store.ts';

/** The stores of this feature. */
export interface VerificationStores {
  sessions: SessionStore;
  claims: ClaimStore;
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
    claims: createClaimStore(db),
    users: createUserStore(db),
    enrollments: createEnrollmentStore(db),
    passkeys: createPasskeyStore(db),
  };
}
