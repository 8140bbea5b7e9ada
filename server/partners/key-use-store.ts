import type { Db } from 'mongodb';
import { collection as clientCollection } from './clients/client-store.ts';
import { integrationCollection } from './integrations/integration-store.ts';

/** Reads which API keys are in use although no program sends them: a key owns the sessions and the events of its clients. */
export function createKeyUseStore(db: Db) {
  return {
    /**
     * Returns the ids of the keys whose clients had a secret made or used since a time, or a storefront integration of theirs did.
     * @param partnerId only keys of this partner
     */
    async keysOfClientsUsedSince(since: Date, partnerId: string | undefined): Promise<string[]> {
      const isRecent = { $gte: since };
      const ofPartner = partnerId === undefined ? {} : { partnerId };
      const clientIds = await db.collection(integrationCollection).distinct('clientId', {
        ...ofPartner,
        $or: ['createdAt', 'rotatedAt', 'lastUsedAt', 'oldSecret.lastUsedAt'].map((field) => ({
          [field]: isRecent,
        })),
      });
      return db.collection<{ keyId: string }>(clientCollection).distinct('keyId', {
        ...ofPartner,
        $or: [
          ...['createdAt', 'secrets.createdAt', 'secrets.lastUsedAt'].map((field) => ({ [field]: isRecent })),
          { _id: { $in: clientIds } },
        ],
      });
    },
  };
}
