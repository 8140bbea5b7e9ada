import { type Db, MongoClient } from 'mongodb';

/** A peer's confirmed write is in the journal, as ours is. All other settings are the driver's defaults. */
export async function connectPeer(uri: string): Promise<Db> {
  const client = await MongoClient.connect(uri, { writeConcern: { w: 1, journal: true } });
  return client.db();
}

/** Codes are prepared without waiting for the journal, because preparation is not measured. */
export const preparing = { ordered: false, writeConcern: { w: 1, journal: false } } as const;
