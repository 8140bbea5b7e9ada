import type { Db } from 'mongodb';
import { isDuplicateKey } from '../platform/database/failures.ts';

/** The last changes of partners and clients, in order. `version` counts all there ever were. */
export interface Changes {
  version: number;
  ids: string[];
}

export interface ChangeStore {
  /** Adds a change. Call it after the change itself is written. */
  add(id: string): Promise<void>;
  read(): Promise<Changes>;
}

/** Changes that the document lists. */
const kept = 64;

/** One document of `meta`: processes read it to learn which cached partners and clients are out of date. */
export function createChangeStore(db: Db): ChangeStore {
  const meta = db.collection<Changes & { _id: 'directory' }>('meta');

  async function add(id: string): Promise<void> {
    await meta.updateOne(
      { _id: 'directory' },
      { $inc: { version: 1 }, $push: { ids: { $each: [id], $slice: -kept } } },
      { upsert: true },
    );
  }

  return {
    // Two processes that add the first change at once: one of the inserts is refused, and its repetition is an update.
    add: (id) => add(id).catch((error: unknown) => (isDuplicateKey(error) ? add(id) : Promise.reject(error))),
    read: async () => (await meta.findOne({ _id: 'directory' })) ?? { version: 0, ids: [] },
  };
}
