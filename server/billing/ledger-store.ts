import { type Db, type Document, Long, MongoServerError } from 'mongodb';
import type { Mode } from '../../contracts/identifiers.ts';
import { groupBy } from '../platform/batching/group-by.ts';
import { createGroupCommit } from '../platform/batching/group-commit.ts';
import { duplicateKey, mayHaveWritten } from '../platform/database/failures.ts';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import type { ShardDeclaration } from '../platform/database/sharding.ts';
import { type LedgerEntry, type LedgerPage, pageIdOf } from './ledger-page.ts';

const collection = 'ledger';

export const indexes: IndexDeclaration[] = [
  // An id occurs once in all pages of a wallet. This makes charges exactly-once.
  { collection, key: { walletId: 1, 'entries.id': 1 }, unique: true },
  { collection, key: { unpublished: 1, at: 1 }, partialFilterExpression: { unpublished: true } },
  { collection, key: { purgeGrantsAt: 1 }, sparse: true },
  // Finds all wallets by their first page.
  { collection, key: { n: 1, walletId: 1 }, partialFilterExpression: { n: 0 } },
  // Finds accesses of checkboxes, which have no code, for erasure.
  {
    collection,
    key: { walletId: 1, 'entries.grant.enrollmentId': 1 },
    partialFilterExpression: { 'entries.kind': 'checkbox' },
  },
];

/** All pages of a wallet are on one shard, because only there the unique index covers all of its entries. */
export const shardKey: ShardDeclaration = { collection, key: { walletId: 1 } };

/** The result of one page of an insert. */
export type Inserted =
  | 'inserted'
  /** The wallet already has a page with this number. */
  | 'page exists'
  /** At least one id of the page already has an entry. The server does not say which one. */
  | 'entry exists'
  /** The database has refused the page: for now, or always because of a fault of this build. */
  | Error;

interface InsertReply {
  writeErrors?: { index: number; code: number; keyPattern?: Document }[];
}

const int64 = (value: number) => Long.fromNumber(value);

/** Converts every number that is summed to int64, also small ones, which the driver would store as int32. */
function stored(page: LedgerPage): Document {
  const entries = page.entries.map((entry) => ({
    ...entry,
    amount: int64(entry.amount),
    balanceAfter: int64(entry.balanceAfter),
    ...(entry.seq === undefined ? {} : { seq: int64(entry.seq) }),
  }));
  const { balance, seq, ...state } = page.state;
  return { ...page, entries, state: { balance: int64(balance), seq: int64(seq), ...state } };
}

function outcomeOf(error: NonNullable<InsertReply['writeErrors']>[number]): Inserted {
  if (error.code === duplicateKey)
    return error.keyPattern?.['_id'] === undefined ? 'entry exists' : 'page exists';
  const refusal = new MongoServerError(error);
  if (mayHaveWritten(refusal)) throw refusal;
  return refusal;
}

/** Returns the filter for all pages of a wallet. Page ids begin with the wallet id and '/', and '0' follows '/' in ASCII. */
const filterOfWallet = (walletId: string) => ({
  walletId,
  _id: { $gte: `${walletId}/`, $lt: `${walletId}0` },
});

const byOpening = { n: 1, walletId: 1 };
/** Returns the filter for the first pages of all wallets, or of all wallets of a mode. */
const openingsOf = (mode: Mode | undefined): Document => ({
  n: 0,
  ...(mode ? { walletId: { $regex: `:${mode}$` } } : {}),
});

/** Returns the filter for the given pages. It contains the shard key, so that only the shards with these pages are queried. */
export const filterOfPages = (pages: readonly Pick<LedgerPage, '_id' | 'walletId'>[]) => ({
  walletId: { $in: [...new Set(pages.map(({ walletId }) => walletId))] },
  _id: { $in: pages.map(({ _id }) => _id) },
});

interface Range {
  after?: string | undefined;
  limit: number;
  mode?: Mode | undefined;
}

interface EntryKey {
  walletId: string;
  id: string;
}

const entriesAmong = (ids: readonly string[]): Document => ({
  $filter: { input: '$entries', cond: { $in: ['$$this.id', ids] } },
});

/** The `ledger` collection. Pages are inserted and read. Only grants and the `unpublished` mark are ever changed. */
export function createLedgerStore(db: Db) {
  const ledger = db.collection<LedgerPage>(collection);
  // `db.command` ignores the write concern of the connection.
  const writeConcern = { w: db.writeConcern?.w ?? 1, j: true };

  /** Reads only the wanted entries of pages, because whole pages can be large. */
  async function entriesOf(
    walletIds: readonly string[],
    ids: readonly string[],
  ): Promise<Map<string, LedgerEntry>> {
    const found = await ledger
      .aggregate<{ walletId: string; entries: LedgerEntry[] }>([
        { $match: { walletId: { $in: walletIds }, 'entries.id': { $in: ids } } },
        { $project: { walletId: 1, entries: entriesAmong(ids) } },
      ])
      .toArray();
    return new Map(
      found.flatMap(({ walletId, entries }) =>
        entries.map((entry) => [`${walletId}/${entry.id}`, entry] as const),
      ),
    );
  }

  const findEntry = createGroupCommit<EntryKey, LedgerEntry | undefined>({
    async run(keys) {
      const found = await entriesOf(
        [...new Set(keys.map(({ walletId }) => walletId))],
        [...new Set(keys.map(({ id }) => id))],
      );
      return keys.map(({ walletId, id }) => found.get(`${walletId}/${id}`));
    },
  });

  return {
    /**
     * Inserts pages of different wallets in one durable command. The driver's `insertMany` is not used: it drops the key pattern
     * of a refusal, and hides a lost reply by sending the command again.
     * @returns the result of each page, in the order of `pages`
     * @throws if the server rejected the whole command, or if the result of a page is unknown
     */
    async insert(pages: readonly LedgerPage[]): Promise<Inserted[]> {
      const reply = (await db.command(
        { insert: collection, documents: pages.map(stored), ordered: false, writeConcern },
        { ignoreUndefined: true },
      )) as InsertReply;
      const results: Inserted[] = pages.map(() => 'inserted');
      for (const error of reply.writeErrors ?? []) results[error.index] = outcomeOf(error);
      return results;
    },

    /**
     * Returns the last page of a wallet without its entries; undefined if the wallet was never opened. The page is durable,
     * because a page on top of a lost page would leave a gap. A server without a replica set also returns data that are not yet
     * in its journal. There, an update without effect waits for the journal.
     */
    async head(walletId: string): Promise<Omit<LedgerPage, 'entries'> | undefined> {
      if (writeConcern.w !== 'majority') {
        const durable = await ledger.findOneAndUpdate(
          filterOfWallet(walletId),
          { $max: { version: 0 } },
          { sort: { _id: -1 }, hint: { _id: 1 }, projection: { entries: 0 }, writeConcern },
        );
        return durable ?? undefined;
      }
      const found = await ledger
        .find(filterOfWallet(walletId), { projection: { entries: 0 } })
        .sort({ _id: -1 })
        .hint({ _id: 1 })
        .limit(1)
        .next();
      return found ?? undefined;
    },

    /** Returns a page by its number. */
    async page(walletId: string, n: number): Promise<LedgerPage | undefined> {
      return (
        (await ledger.findOne({ walletId, _id: pageIdOf(walletId, n) }, { hint: { _id: 1 } })) ?? undefined
      );
    },

    /** Returns a page by its number, without its entries. */
    async summary(walletId: string, n: number): Promise<Omit<LedgerPage, 'entries'> | undefined> {
      const filter = { walletId, _id: pageIdOf(walletId, n) };
      return (await ledger.findOne(filter, { hint: { _id: 1 }, projection: { entries: 0 } })) ?? undefined;
    },

    /** Reads the pages from number `from` to number `to`, both included, in order. */
    pages: (walletId: string, { from, to }: { from: number; to: number }): AsyncIterable<LedgerPage> =>
      ledger
        .find({ walletId, _id: { $gte: pageIdOf(walletId, from), $lte: pageIdOf(walletId, to) } })
        .sort({ _id: 1 })
        .hint({ _id: 1 })
        .batchSize(100),

    /** Returns an entry by wallet and id. Simultaneous calls share one read. */
    findEntry,

    /**
     * Returns an entry that no crash can undo. Use this if a response depends on the entry. A server without a replica set also
     * returns data that are not yet in its journal. There, an update without effect waits for the journal.
     */
    async findDurableEntry(key: EntryKey): Promise<LedgerEntry | undefined> {
      const found = await findEntry(key);
      if (!found || writeConcern.w === 'majority') return found;
      const page = await ledger.findOneAndUpdate(
        { walletId: key.walletId, 'entries.id': key.id },
        { $max: { version: 0 } },
        { projection: { entries: { $elemMatch: { id: key.id } } }, writeConcern },
      );
      return page?.entries[0];
    },

    /** Returns those of `keys` that have an entry, each as wallet id, '/' and entry id. */
    async existing(keys: readonly EntryKey[]): Promise<Set<string>> {
      const found = await Promise.all(
        [...groupBy(keys, ({ walletId }) => walletId)].map(([walletId, ofWallet]) =>
          entriesOf(
            [walletId],
            ofWallet.map(({ id }) => id),
          ),
        ),
      );
      return new Set(found.flatMap((entries) => [...entries.keys()]));
    },

    /** Finds an entry by its id in any of the wallets, which are searched in groups of 1,000. */
    async findAnywhere(
      id: string,
      walletIds: readonly string[],
    ): Promise<(LedgerEntry & { walletId: string }) | undefined> {
      for (let first = 0; first < walletIds.length; first += 1_000) {
        const found = await entriesOf(walletIds.slice(first, first + 1_000), [id]);
        for (const [key, entry] of found) return { ...entry, walletId: key.slice(0, key.indexOf('/')) };
      }
      return undefined;
    },

    /** Returns the ids of all wallets, or of those of a mode, in order, beginning after the id `after`. */
    async walletIds({ after = '', limit, mode }: Range): Promise<string[]> {
      const first = await ledger
        .find({ $and: [openingsOf(mode), { walletId: { $gt: after } }] }, { projection: { walletId: 1 } })
        .sort({ walletId: 1 })
        .hint(byOpening)
        .limit(limit)
        .toArray();
      return first.map(({ walletId }) => walletId);
    },

    /** Counts all wallets, or the wallets of a mode. */
    countWallets: (mode: Mode | undefined): Promise<number> =>
      ledger.countDocuments(openingsOf(mode), { hint: byOpening }),

    /** Returns pages whose events and audit entries are not written yet, the oldest first. */
    unpublished: (writtenBefore: Date, limit: number): Promise<LedgerPage[]> =>
      ledger
        .find({ unpublished: true, at: { $lt: writtenBefore } })
        .sort({ at: 1 })
        .limit(limit)
        .toArray(),

    async markPublished(pages: readonly Pick<LedgerPage, '_id' | 'walletId'>[]): Promise<void> {
      if (pages.length === 0) return;
      await ledger.updateMany(filterOfPages(pages), { $unset: { unpublished: '' } }, { hint: { _id: 1 } });
    },
  };
}
export type LedgerStore = ReturnType<typeof createLedgerStore>;
