import type { Db } from 'mongodb';
import { createDeviceRequestStore, indexes as deviceIndexes } from './device-request-store.ts';
import { createMemberSessionStore, indexes as sessionIndexes } from './member-session-store.ts';
import { createMemberStore, indexes as memberIndexes } from './member-store.ts';
import { createOwnerEndStore, indexes as ownerEndIndexes } from './owner-end-store.ts';

export const indexes = [...memberIndexes, ...sessionIndexes, ...deviceIndexes, ...ownerEndIndexes];

/** The stores of this feature. */
export const createMembersStores = (db: Db) => ({
  members: createMemberStore(db),
  memberSessions: createMemberSessionStore(db),
  deviceRequests: createDeviceRequestStore(db),
  ownerEnds: createOwnerEndStore(db),
});
export type MembersStores = ReturnType<typeof createMembersStores>;
