import type { Db } from 'mongodb';
import { isUnavailable } from './failures.ts';
import { metaCollection } from './meta.ts';

/** Asks for `$$NOW` by a query over one empty document. Undefined if the server does not support such a query. */
const readByQuery = async (db: Db): Promise<Date | undefined> => {
  try {
    const [row] = await db
      .aggregate<{ now: Date }>([{ $documents: [{}] }, { $project: { now: '$$NOW' } }])
      .toArray();
    return row?.now;
  } catch (error) {
    if (isUnavailable(error)) throw error;
    return undefined; // Servers before MongoDB 5.1 refuse `$documents`.
  }
};

/** Reads the time from the `hello` reply, where every MongoDB sends it. The embedded engine does not. */
const readByHello = async (db: Db): Promise<Date | undefined> => {
  const { localTime } = (await db.command({ hello: 1 })) as { localTime?: Date };
  return localTime;
};

/** Reads the clock of the server that this process is connected to, in the first way that the server supports. */
const readDirectly = async (db: Db): Promise<Date | undefined> =>
  (await readByQuery(db)) ?? (await readByHello(db));

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
