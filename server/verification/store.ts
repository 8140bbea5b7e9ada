import type { Db } from 'mongodb';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import {
  createEnrollmentStore,
  type EnrollmentStore,
  indexes as enrollmentIndexes,
} from './enrollment-store.ts';
import { createSessionStore, type SessionStore, indexes as sessionIndexes } from './session-store.ts';
import { createUserStore, type UserStore, indexes as userIndexes } from './user-store.ts';

/** What this feature keeps. */
export interface VerificationStores {
  sessions: SessionStore;
  users: UserStore;
  enrollments: EnrollmentStore;
}

export const indexes: IndexDeclaration[] = [...sessionIndexes, ...userIndexes, ...enrollmentIndexes];

export function createVerificationStores(db: Db): VerificationStores {
  return {
    sessions: createSessionStore(db),
    users: createUserStore(db),
    enrollments: createEnrollmentStore(db),
  };
}
