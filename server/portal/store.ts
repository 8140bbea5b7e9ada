import type { Db } from 'mongodb';
import { createMemberSessionStore, indexes as sessionIndexes } from './member-session-store.ts';
import { createMemberStore, indexes as memberIndexes } from './member-store.ts';

export const indexes = [...memberIndexes, ...sessionIndexes];

/** What this feature keeps. */
export const createPortalStores = (db: Db) => ({
  members: createMemberStore(db),
  memberSessions: createMemberSessionStore(db),
});
export type PortalStores = ReturnType<typeof createPortalStores>;
