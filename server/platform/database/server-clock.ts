import type { Db } from 'mongodb';
import { metaCollection } from './meta.ts';

/**
 * Reads the clock of the server that this process is connected to. Every MongoDB sends its time with `hello`. The embedded engine
 * does not, but it answers a query over one empty document, which servers before MongoDB 5.1 refuse.
 */
const readDirectly = async (db: Db): Promise<Date | undefined> => {
  const { localTime } = (await db.command({ hello: 1 })) as { localTime?: Date };
  if (localTime) return localTime;
  const [row] = await db
    .aggregate<{ now: Date }>([{ $documents: [{}] }, { $project: { now: '$$NOW' } }])
    .toArray();
  return row?.now;
};

interface ClockDocument {
  _id: 'clock';
  at: Date;
}

/** Makes the server that stores `meta` write its time. A router would answer a query with its own time. */
const readByUpdate = async (db: Db): Promise<Date | undefined> => {
  const written = await db
    .collection<ClockDocument>(metaCollection)
    .findOneAndUpdate(
      { _id: 'clock' },
      { $currentDate: { at: true } },
      { upsert: true, returnDocument: 'after', writeConcern: { w: 1 } },
    );
  return written?.at;
};

/**
 * Reads the database server's clock, which decides money and limits. In a sharded cluster, this is the clock of the shard
 * that stores `meta`. The router would answer `$$NOW` and `hello` with its own time.
 *
 * @param behindRouter whether the database is reached through the router of a sharded cluster
 * @returns milliseconds since the epoch
 */
export const readServerTime = async (db: Db, behindRouter = false): Promise<number> => {
  const time = behindRouter ? await readByUpdate(db) : await readDirectly(db);
  if (time === undefined) throw new Error('the database did not report its time');
  return time.getTime();
};
