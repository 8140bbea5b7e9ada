import type { Db } from 'mongodb';
import { isUnavailable } from './failures.ts';

const readByQuery = async (db: Db): Promise<Date | undefined> => {
  const [row] = await db
    .aggregate<{ now: Date }>([{ $documents: [{}] }, { $project: { now: '$$NOW' } }])
    .toArray();
  return row?.now;
};

/**
 * The database server's clock, which decides money and limits.
 *
 * @returns milliseconds since the epoch
 */
export const readServerTime = async (db: Db): Promise<number> => {
  const now = await readByQuery(db).catch((error: unknown) => {
    if (isUnavailable(error)) throw error;
    return undefined; // `$documents` came with MongoDB 5.1
  });
  if (now !== undefined) return now.getTime();
  const { localTime } = (await db.command({ hello: 1 })) as { localTime?: Date };
  if (localTime === undefined) throw new Error('the database does not tell its time');
  return localTime.getTime();
};
