import { type Db, MongoClient } from 'mongodb';

/** A confirmed write of a peer is in the journal, as ours is; everything else is the driver's default. */
export async function connectPeer(uri: string): Promise<Db> {
  const client = await MongoClient.connect(uri, { writeConcern: { w: 1, journal: true } });
  return client.db();
}

/** Codes are prepared without waiting for the journal: that is not what is measured. */
export const preparing = { ordered: false, writeConcern: { w: 1, journal: false } } as const;
