import { LRUCache } from 'lru-cache';
import type { AnyBulkWriteOperation, Db, Document } from 'mongodb';
import { groupBy } from '../batching/group-by.ts';
import type { Clock } from '../clock.ts';
import { minute } from '../http/windows.ts';
import type { Logger } from '../telemetry/logging.ts';

/** A secret that was just used, and where the time of its last use is kept. */
export interface SecretUse {
  collection: string;
  /** Matches the document, and in it the secret: one that was replaced since is left alone. */
  filter: { _id: string } & Document;
  /** The path of the time. */
  field: string;
  /** As the document has it. */
  lastUsedAt: Date | undefined;
}

interface Dependencies {
  db: Db;
  clock: Pick<Clock, 'now'>;
  logger: Pick<Logger, 'warn'>;
  /** Milliseconds for which uses are collected. */
  flushEvery: number;
}

/** Secrets of which a process remembers that their use was noted. */
const remembered = 20_000;

const nameOf = ({ collection, filter }: SecretUse) => `${collection} ${JSON.stringify(filter)}`;

const toStatement = ({ filter, field }: SecretUse, at: Date): AnyBulkWriteOperation<{ _id: string }> => ({
  updateOne: { filter, update: { $max: { [field]: at } } },
});

/** Notes when secrets were last used: together, in the background, and at most once a minute for each. */
export function createLastUses({ db, clock, logger, flushEvery }: Dependencies) {
  /** When each was noted. */
  const noted = new LRUCache<string, number>({ max: remembered });
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

    /** Returns at once: no request waits for it. */
    note(use: SecretUse): void {
      const now = clock.now();
      const name = nameOf(use);
      const last = Math.max(noted.get(name) ?? 0, use.lastUsedAt?.getTime() ?? 0);
      if (now - last < minute) return;
      noted.set(name, now);
      waiting.push({ use, at: new Date(now) });
      if (waiting.length === 1) setTimeout(() => void flush(), flushEvery).unref();
    },
  };
}
export type LastUses = ReturnType<typeof createLastUses>;
