import type { Db, Document } from 'mongodb';
import type { Mode } from '../../../contracts/identifiers.ts';
import { collection as clientCollection } from '../../partners/clients/client-store.ts';
import { integrationCollection } from '../../partners/integrations/integration-store.ts';
import { collection as keyCollection } from '../../partners/keys/key-store.ts';
import { limitInTurns } from '../../platform/database/reads/in-turns.ts';

/** An old secret that expires soon and is still in use. */
export interface ExpiringSecret {
  owner: string;
  partnerId: string;
  mode: Mode;
  last4: string;
  expiresAt: Date;
}

interface Period {
  /** The secrets expire after `from` and not after `to`. */
  from: Date;
  to: Date;
  /** The secrets were used at this time or later. */
  usedSince: Date;
}

const secretFields = [
  { collection: clientCollection, field: 'secrets' },
  { collection: keyCollection, field: 'oldSecrets' },
  { collection: integrationCollection, field: 'oldSecret' },
];
const mostPerCollection = 500;

/** Reads the old secrets of partners that expire soon and are still in use. Partners take turns, so that none hides another. */
export function createExpiringSecretStore(db: Db) {
  return {
    async findExpiring({ from, to, usedSince }: Period): Promise<ExpiringSecret[]> {
      const found = await Promise.all(
        secretFields.map(({ collection, field }) => {
          const isExpiring: Document = { [`${field}.expiresAt`]: { $gt: from, $lte: to } };
          const isUsed: Document = { [`${field}.lastUsedAt`]: { $gte: usedSince } };
          return db
            .collection<{ _id: string }>(collection)
            .aggregate<ExpiringSecret>([
              { $match: isExpiring },
              // A document may have several old secrets, of which only some expire in the period.
              { $unwind: `$${field}` },
              { $match: { ...isExpiring, ...isUsed } },
              {
                $project: {
                  _id: 0,
                  owner: '$_id',
                  partnerId: 1,
                  mode: 1,
                  last4: { $ifNull: [`$${field}.last4`, ''] },
                  expiresAt: `$${field}.expiresAt`,
                },
              },
              ...limitInTurns({
                by: 'partnerId',
                sort: { expiresAt: 1 },
                limit: mostPerCollection,
              }),
            ])
            .toArray();
        }),
      );
      return found.flat();
    },
  };
}
