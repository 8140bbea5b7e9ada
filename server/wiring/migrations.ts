import type { Migration } from '../platform/database/migrations.ts';
import { keyCollection } from '../platform/keys/keyring.ts';
import { keepIdentities } from '../verification/people/identity-store.ts';
import { retiredIndexes as ofUsers } from '../verification/people/user-store.ts';
import { retiredIndexes as ofSessions } from '../verification/session/session-store.ts';

/** Changes of documents that are under way between the schema versions that this build knows, oldest first. */
export const migrations: readonly Migration[] = [
  {
    // Builds of schema version 1 read the keys at start only: keys are not rotated before this is finished.
    name: 'keys say from when on they are used',
    to: 2,
    collection: keyCollection,
    pending: { activeAt: { $exists: false } },
    change: [{ $set: { activeAt: '$createdAt' } }],
  },
  {
    name: 'identities are documents',
    to: 3,
    collection: 'users',
    affected: { _id: { $gte: 'usr_', $lt: 'usr`' }, erasedAt: { $exists: false } },
    apply: keepIdentities,
    retiredIndexes: [...ofUsers, ...ofSessions],
  },
];
