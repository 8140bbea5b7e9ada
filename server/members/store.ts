import type { Db } from 'mongodb';
import { createDeviceRequestStore, indexes as deviceIndexes } from './device-request-store.ts';
import { createMemberSessionStore, indexes as sessionIndexes } from './member-session-store.ts';
import { createMemberStore, indexes as memberIndexes } from './member-store.ts';

export const indexes = [...memberIndexes, ...sessionIndexes, ...deviceIndexes];

/** The stores of this feature. */
export const createMembersStores = (db: Db) => ({
  members: createMemberStore(db),
  memberSessions: createMemberSessionStore(db),
  deviceRequests: createDeviceRequestStore(db),
});
export type MembersStores = ReturnType<typeof createMembersStores>;
