import { type Db, type Document, Long, MongoServerError } from 'mongodb';
import type { ListWallets } from '../../../contracts/admin/wallets.ts';
import { BillableKind } from '../../../contracts/charge.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import { groupBy } from '../../platform/batching/group-by.ts';
import { createGroupCommit } from '../../platform/batching/group-commit.ts';
import { createTurns } from '../../platform/batching/turns.ts';
import { duplicateKey, mayHaveWritten } from '../../platform/database/failures.ts';
import { anyOf, type Read } from '../../platform/database/reads/joint-reads.ts';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';
import type { ShardDeclaration } from '../../platform/database/schema/sharding.ts';
import { entryKeyOf, type LedgerEntry, type LedgerPage, pageIdOf } from './ledger-page.ts';

export const collection = 'ledger';
/** The entries that a reader of many pages reads in one turn of the event loop: about 2 ms of work. A page counts as some entries. */
const entriesPerTurn = 128;
const costOfPage = 8;
/** The fewest and the most pages in one answer of the database. */
const fewestPerBatch = 8;
const pagesPerBatch = 32;
/** How many wallets `findAnywhere` searches with one command. */
const walletsPerSearch = 1_000;

/** How erasure and withdrawal find the charges of a user. The id of a charge follows from its code, if it has one. */
const foundBy: Readonly<Record<BillableKind, 'code' | 'enrollment'>> = {
  token: 'code',
  storefront: 'code',
  checkbox: 'enrollment',
};
export const kindsWithoutCode = BillableKind.options.filter((kind) => foundBy[kind] === 'enrollment');

export const indexes: IndexDeclaration[] = [
  // An id occurs once in all pages of a wallet. This makes charges exactly-once.
  { collection, key: { walletId: 1, 'entries.id': 1 }, unique: true },
  // Finds pages whose events are not published yet.
  { collection, key: { unpublished: 1, at: 1 }, partialFilterExpression: { unpublished: true } },
  // Finds pages with grants whose retention has ended.
  { collection, key: { purgeGrantsAt: 1 }, sparse: true },
  // Finds all wallets by their first page.
  { collection, key: { n: 1, walletId: 1 }, partialFilterExpression: { n: 0 } },
  // Finds the accesses of charges without a code, for the erasure of a user.
  ...kindsWithoutCode.map(
    (kind): IndexDeclaration => ({
      collection,
      // Their keys are the same, so each has a name of its own.
      name: `accesses_${kind}`,
      key: { walletId: 1, 'entries.grant.enrollmentId': 1 },
      partialFilterExpression: { 'entries.kind': kind },
    }),
  ),
];

const unpublishedBefore = (at: Date) => ({ unpublished: true as const, at: { $lt: at } });
/** Finds whether pages that were written before a time are unpublished. */
export const unpublishedRead = (writtenBefore: Date): Read =>
  anyOf(collection, unpublishedBefore(writtenBefore));

/** All pages of a wallet are on one shard, because only there the unique index covers all of its entries. */
export const shardKey: ShardDeclaration = { collection, key: { walletId: 1 } };

export type InsertResult =
  | 'inserted'
  /** The wallet already has a page with this number. */
  | 'page exists'
  /** At least one id of the page already has an entry. The server does not say which one. */
  | 'entry exists'
  /** The database has refused the page: for now, or always because of a fault of this build. */
  | Error;

/** The reply of the server to an insert. A page without a write error was inserted. */
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

/** Returns what a write error says about its page. @throws the error if it does not tell whether the page was inserted */
function resultOf(error: NonNullable<InsertReply['writeErrors']>[number]): InsertResult {
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

/** Pages by their numbers, both included. */
interface PageRange {
  from: number;
  to: number;
}
const filterOfRange = (walletId: string, { from, to }: PageRange) => ({
  walletId,
  _id: { $gte: pageIdOf(walletId, from), $lte: pageIdOf(walletId, to) },
});

/** The charges of a wallet on one day in UTC, such as `2026-07-01`. */
export interface DayOfCharges {
  day: string;
  charges: number;
  cents: number;
}
/** An expression for the entries of a page that are charges and cost money. */
const charges = {
  $filter: {
    input: '$entries',
    cond: { $and: [{ $in: ['$$this.kind', BillableKind.options] }, { $lt: ['$$this.amount', 0] }] },
  },
};

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

type Range = Pick<ListWallets, 'after' | 'limit' | 'mode'>;

interface EntryKey {
  walletId: string;
  id: string;
}

/** The `ledger` collection. Pages are inserted and read. Only grants and the `unpublished` mark are ever changed. */
export function createLedgerStore(db: Db) {
  const ledger = db.collection<LedgerPage>(collection);
  // `db.command` ignores the write concern of the connection, so `insert` names it.
  const writeConcern = { w: db.writeConcern?.w ?? 1, j: true };

  /** Finds entries with these ids in these wallets. It reads no other entries of their pages, because pages can be large. */
  async function findEntries(
    walletIds: readonly string[],
    ids: readonly string[],
  ): Promise<{ walletId: string; entry: LedgerEntry }[]> {
    const matchingEntries = { $filter: { input: '$entries', cond: { $in: ['$$this.id', ids] } } };
    const found = await ledger
      .aggregate<{ walletId: string; entries: LedgerEntry[] }>([
        { $match: { walletId: { $in: walletIds }, 'entries.id': { $in: ids } } },
        { $project: { walletId: 1, entries: matchingEntries } },
      ])
      .toArray();
    return found.flatMap(({ walletId, entries }) => entries.map((entry) => ({ walletId, entry })));
  }

  /**
   * An update without effect, because no version is less than 0. It makes a read durable on a server without a replica set: a
   * read there also returns data that a crash can undo, but an update waits until the document is in the journal.
   */
  const noChange = { $max: { version: 0 } };
  const readsAreDurable = writeConcern.w === 'majority';
  const turn = createTurns();

  const findEntry = createGroupCommit<EntryKey, LedgerEntry | undefined>({
    async run(keys) {
      // This also finds the ids in the wallets of other keys. Such entries are not returned.
      const found = await findEntries(
        [...new Set(keys.map(({ walletId }) => walletId))],
        [...new Set(keys.map(({ id }) => id))],
      );
      const byKey = new Map(
        found.map(({ walletId, entry }) => [entryKeyOf({ walletId, id: entry.id }), entry]),
      );
      return keys.map((key) => byKey.get(entryKeyOf(key)));
    },
  });

  return {
    /**
     * Inserts pages of different wallets in one durable command. The driver's `insertMany` is not used: it drops the key pattern
     * of a refusal, and hides a lost reply by sending the command again.
     * @returns the result of each page, in the order of `pages`
     * @throws if the server rejected the whole command, or if the result of a page is unknown
     */
    async insert(pages: readonly LedgerPage[]): Promise<InsertResult[]> {
      const reply = (await db.command(
        { insert: collection, documents: pages.map(stored), ordered: false, writeConcern },
        { ignoreUndefined: true },
      )) as InsertReply;
      const results: InsertResult[] = pages.map(() => 'inserted');
      for (const error of reply.writeErrors ?? []) results[error.index] = resultOf(error);
      return results;
    },

    /**
     * Returns the last page of a wallet without its entries; undefined if the wallet was never opened. No crash can undo the
     * page, because a page that follows a lost page would leave a gap.
     */
    async head(walletId: string): Promise<Omit<LedgerPage, 'entries'> | undefined> {
      const filter = filterOfWallet(walletId);
      const options = { sort: { _id: -1 }, hint: { _id: 1 }, projection: { entries: 0 } } as const;
      const found = readsAreDurable
        ? await ledger.findOne(filter, options)
        : await ledger.findOneAndUpdate(filter, noChange, { ...options, writeConcern });
      return found ?? undefined;
    },

    async page(walletId: string, n: number): Promise<LedgerPage | undefined> {
      const filter = { walletId, _id: pageIdOf(walletId, n) };
      return (await ledger.findOne(filter, { hint: { _id: 1 } })) ?? undefined;
    },

    /** Returns the pages with these numbers, without their entries, in order. A page that does not exist is left out. */
    summaries: (walletId: string, numbers: readonly number[]): Promise<Omit<LedgerPage, 'entries'>[]> =>
      ledger
        .find({ walletId, _id: { $in: numbers.map((n) => pageIdOf(walletId, n)) } })
        .project<Omit<LedgerPage, 'entries'>>({ entries: 0 })
        .sort({ _id: 1 })
        .hint({ _id: 1 })
        .toArray(),

    /** Adds up the charges that cost money on the pages from number `from` to number `to`, by day in UTC. */
    chargesByDay: (walletId: string, { from, to }: PageRange): Promise<DayOfCharges[]> =>
      ledger
        .aggregate<DayOfCharges>(
          [
            { $match: filterOfRange(walletId, { from, to }) },
            // All entries of a page have its time.
            { $project: { day: { $dateToString: { format: '%Y-%m-%d', date: '$at' } }, charges } },
            {
              $group: {
                _id: '$day',
                charges: { $sum: { $size: '$charges' } },
                moved: { $sum: { $sum: '$charges.amount' } },
              },
            },
            { $project: { _id: 0, day: '$_id', charges: 1, cents: { $multiply: ['$moved', -1] } } },
          ],
          { hint: { _id: 1 } },
        )
        .toArray(),

    /**
     * Reads the pages from number `from` to number `to`, both included, in order. Between some pages, other requests go on.
     * @param expected the number of pages that the caller will probably read, so that no more are sent
     */
    async *pages(
      walletId: string,
      { expected = pagesPerBatch, ...range }: PageRange & { expected?: number },
    ): AsyncGenerator<LedgerPage> {
      const found = ledger
        .find(filterOfRange(walletId, range))
        .sort({ _id: 1 })
        .hint({ _id: 1 })
        .batchSize(Math.max(fewestPerBatch, Math.min(pagesPerBatch, expected)));
      let read = 0;
      for await (const page of found) {
        read += page.entries.length + costOfPage;
        yield page;
        if (read < entriesPerTurn) continue;
        read = 0;
        await turn();
      }
    },

    /** Resolves when long work with entries may go on. See `createTurns`. */
    turn,

    /** Returns an entry by wallet and id. Simultaneous calls share one read. */
    findEntry,

    /** Returns an entry that no crash can undo. Use this if a response depends on the entry. See `noChange`. */
    async findDurableEntry(key: EntryKey): Promise<LedgerEntry | undefined> {
      const found = await findEntry(key);
      if (!found || readsAreDurable) return found;
      const page = await ledger.findOneAndUpdate({ walletId: key.walletId, 'entries.id': key.id }, noChange, {
        projection: { entries: { $elemMatch: { id: key.id } } },
        writeConcern,
      });
      return page?.entries[0];
    },

    /** Returns which of these entries exist, as a set of texts from `entryKeyOf`. */
    async existing(keys: readonly EntryKey[]): Promise<Set<string>> {
      const found = await Promise.all(
        [...groupBy(keys, ({ walletId }) => walletId)].map(([walletId, ofWallet]) =>
          findEntries(
            [walletId],
            ofWallet.map(({ id }) => id),
          ),
        ),
      );
      return new Set(found.flat().map(({ walletId, entry }) => entryKeyOf({ walletId, id: entry.id })));
    },

    async findAnywhere(
      id: string,
      walletIds: readonly string[],
    ): Promise<(LedgerEntry & { walletId: string }) | undefined> {
      for (let first = 0; first < walletIds.length; first += walletsPerSearch) {
        const [found] = await findEntries(walletIds.slice(first, first + walletsPerSearch), [id]);
        if (found) return { ...found.entry, walletId: found.walletId };
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

    countWallets: (mode: Mode | undefined): Promise<number> =>
      ledger.countDocuments(openingsOf(mode), { hint: byOpening }),

    /** Returns pages whose events and audit entries are not written yet, the oldest first. */
    unpublished: (writtenBefore: Date, limit: number): Promise<LedgerPage[]> =>
      ledger.find(unpublishedBefore(writtenBefore)).sort({ at: 1 }).limit(limit).toArray(),

    async markPublished(pages: readonly Pick<LedgerPage, '_id' | 'walletId'>[]): Promise<void> {
      if (pages.length === 0) return;
      await ledger.updateMany(filterOfPages(pages), { $unset: { unpublished: '' } }, { hint: { _id: 1 } });
    },
  };
}
export type LedgerStore = ReturnType<typeof createLedgerStore>;
