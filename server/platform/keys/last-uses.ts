import { LRUCache } from 'lru-cache';
import type { AnyBulkWriteOperation, Db, Document } from 'mongodb';
import { atMost } from '../batching/cache-size.ts';
import { groupBy } from '../batching/group-by.ts';
import type { Clock } from '../clock.ts';
import { minute } from '../http/limits/windows.ts';
import type { Logger } from '../telemetry/logging.ts';

/** A secret that was just used, and where its time of last use is stored. */
export interface SecretUse {
  collection: string;
  /** Matches the document and the secret in it, so that a replaced secret is not changed. */
  filter: { _id: string } & Document;
  field: string;
  lastUsedAt: Date | undefined;
}

interface Dependencies {
  db: Db;
  clock: Pick<Clock, 'now'>;
  logger: Pick<Logger, 'warn'>;
  /** Milliseconds for which uses are collected. */
  flushEvery: number;
}

/** How many secrets a process remembers with the time when their use was noted. */
const cacheSize = 20_000;

const nameOf = ({ collection, filter }: SecretUse) => `${collection} ${JSON.stringify(filter)}`;

const toStatement = ({ filter, field }: SecretUse, at: Date): AnyBulkWriteOperation<{ _id: string }> => ({
  updateOne: { filter, update: { $max: { [field]: at } } },
});

/** Stores when secrets were last used, in batches in the background, at most once a minute for each secret. */
export function createLastUses({ db, clock, logger, flushEvery }: Dependencies) {
  const noted = new LRUCache<string, number>(atMost(cacheSize));
  let waiting: { use: SecretUse; at: Date }[] = [];

  async function flush(): Promise<void> {
    const batch = waiting;
    waiting = [];
    for (const [collection, uses] of groupBy(batch, ({ use }) => use.collection)) {
      const statements = uses.map(({ use, at }) => toStatement(use, at));
      await db
        .collection<{ _id: string }>(collection)
        .bulkWrite(statements, { ordered: false })
        .catch((err: unknown) => logger.warn({ err }, 'last uses of secrets were not noted'));
    }
  }

  return {
    flush,

    /** Notes a use and returns immediately, so that no request waits. */
    note(use: SecretUse): void {
      const now = clock.now();
      const name = nameOf(use);
      const lastNotedHere = noted.get(name) ?? 0;
      const lastStored = use.lastUsedAt?.getTime() ?? 0;
      if (now - Math.max(lastNotedHere, lastStored) < minute) return;
      noted.set(name, now);
      waiting.push({ use, at: new Date(now) });
      if (waiting.length === 1) setTimeout(() => void flush(), flushEvery).unref();
    },
  };
}
export type LastUses = ReturnType<typeof createLastUses>;
