import type { Db, Document } from 'mongodb';
import type { Mode } from '../../contracts/identifiers.ts';

/** An old secret that expires soon and is still in use. */
export interface ExpiringSecret {
  owner: string;
  partnerId: string;
  mode: Mode;
  last4: string;
  expiresAt: Date;
}

interface Period {
  /** Secrets that expire between these times. */
  from: Date;
  to: Date;
  /** Only secrets that were used since this time. */
  usedSince: Date;
}

/** The collections and fields that contain secrets with an expiry. */
const places = [
  { collection: 'clients', field: 'secrets' },
  { collection: 'apiKeys', field: 'oldSecrets' },
  { collection: 'integrations', field: 'oldSecret' },
];
const mostOfEach = 500;

/** Reads the secrets of partners that expire. */
export function createExpiringSecretStore(db: Db) {
  return {
    async between({ from, to, usedSince }: Period): Promise<ExpiringSecret[]> {
      const found = await Promise.all(
        places.map(({ collection, field }) => {
          const ends: Document = { [`${field}.expiresAt`]: { $gt: from, $lte: to } };
          const isUsed: Document = { [`${field}.lastUsedAt`]: { $gte: usedSince } };
          return db
            .collection<{ _id: string }>(collection)
            .aggregate<ExpiringSecret>([
              { $match: ends },
              { $limit: mostOfEach },
              { $unwind: `$${field}` },
              { $match: { ...ends, ...isUsed } },
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
            ])
            .toArray();
        }),
      );
      return found.flat();
    },
  };
}
