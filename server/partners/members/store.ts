import type { Db } from 'mongodb';
import { createDeviceRequestStore } from './device-request-store.ts';
import { createMemberSessionStore } from './member-session-store.ts';
import { createMemberStore } from './member-store.ts';
import { createOwnerEndStore } from './owner-end-store.ts';

export const createMembersStores = (db: Db) => ({
  members: createMemberStore(db),
  memberSessions: createMemberSessionStore(db),
  deviceRequests: createDeviceRequestStore(db),
  ownerEnds: createOwnerEndStore(db),
});
export type MembersStores = ReturnType<typeof createMembersStores>;
