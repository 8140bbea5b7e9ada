import type { Db } from 'mongodb';
import { unlessDuplicate } from '../../platform/database/failures.ts';
import { metaCollection } from '../../platform/database/meta.ts';

export interface Changes {
  /** The number of changes since the installation. A reader knows from it how many changes it has missed. */
  version: number;
  /** The ids of the partners and clients that changed last. The newest is the last. */
  ids: string[];
}

export type ChangeStore = ReturnType<typeof createChangeStore>;

const mostListed = 64;

/** Stores changes in one document of `meta`. Processes read it to learn which cached partners and clients are out of date. */
export function createChangeStore(db: Db) {
  const meta = db.collection<Changes & { _id: 'directory' }>(metaCollection);

  const add = (id: string) =>
    meta.updateOne(
      { _id: 'directory' },
      { $inc: { version: 1 }, $push: { ids: { $each: [id], $slice: -mostListed } } },
      { upsert: true },
    );

  return {
    /** Adds a change. Call it after the change itself is written. */
    async add(id: string): Promise<void> {
      const added = await unlessDuplicate(add(id));
      // Another process inserted the document at the same time. The second try updates it.
      if (!added) await add(id);
    },
    read: async (): Promise<Changes> => (await meta.findOne({ _id: 'directory' })) ?? { version: 0, ids: [] },
  };
}
