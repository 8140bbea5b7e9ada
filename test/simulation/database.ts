import { type BulkWriteResult, type Db, MongoBulkWriteError } from 'mongodb';
import { type AccessRecord, createAccessStore } from '../../server/billing/access-store.ts';
import type { LedgerEntry } from '../../server/billing/ledger.ts';
import { createLedgerStore } from '../../server/billing/ledger-store.ts';
import {
  applyBatch,
  type Posting,
  type SpendWindow,
  type WalletState,
} from '../../server/billing/wallet-model.ts';
import type { WalletBatch } from '../../server/billing/wallet-pipeline.ts';
import type { WalletStore } from '../../server/billing/wallet-store.ts';
import { hour, minute, windowStart } from '../../server/platform/windows.ts';
import type { Guard } from './guards.ts';
import type { Network } from './network.ts';
import type { Actor } from './schedule.ts';

/** What the product asks of the database about wallets. */
export type WalletsPort = Pick<WalletStore, 'apply' | 'settledCount' | 'overdue'>;

type Document = { _id: string };
type ById = { _id: { $in: readonly string[] } };
type Before = { purgeAt: { $lt: Date } };
type StoredAccess = AccessRecord & { purgeAt: Date };

const short = (ids: readonly string[]) => {
  const shown = ids.slice(0, 3).map((id) => id.slice(0, 14));
  return `[${shown.join(' ')}${ids.length > 3 ? ` +${ids.length - 3}` : ''}]`;
};

/** Inserts all that no unique key stands against; throws what the driver throws when some were refused. */
function insertUnordered<T extends Document>(
  documents: readonly T[],
  insert: (document: T) => boolean,
): void {
  const refused = documents.filter((document) => !insert(document)).length;
  if (refused === 0) return;
  const result = { getWriteConcernError: () => undefined } as BulkWriteResult;
  const writeErrors = Array.from({ length: refused }, () => ({ code: 11_000 })) as never[];
  throw new MongoBulkWriteError({ message: 'E11000 duplicate key', code: 11_000, writeErrors }, result);
}

/**
 * The simulated database: documents in memory, each changed in single atomic steps, and the ports that a
 * process reaches them by. A wallet's update is `applyBatch`; that the real pipeline does the same is
 * shown by test/billing/wallet-pipeline.test.ts. The other two collections are under the product's own stores.
 */
export function createDatabase(network: Network, removed: Guard | undefined) {
  const wallets = new Map<string, WalletState>();
  const accesses = new Map<string, StoredAccess>();
  /** Every record that ever stood, purged ones too. */
  const granted = new Map<string, AccessRecord>();
  const decidedAgain: string[] = [];
  const ledger = new Map<string, LedgerEntry>();
  const places = new Set<string>();
  /** Charges admitted per wallet, length and start of window: what no cap may be exceeded by. */
  const admissions = new Map<string, number>();
  let fullest = 0;

  /** What "reset if different" would do with a posting of another window. */
  const reset = (window: SpendWindow, length: number, { at }: Posting): SpendWindow => {
    const start = windowStart(at.getTime(), length);
    return start === window.start.getTime() ? window : { start: new Date(start), used: 0 };
  };

  /** A wallet as postings are judged by it. */
  function seen(state: WalletState): WalletState {
    if (removed === 'ring') return { ...state, recentlySettled: [] };
    return removed === 'settled' ? { ...state, settled: state.seq } : state;
  }

  function admit(state: WalletState, postings: readonly Posting[]): WalletState {
    const next = applyBatch(seen(state), [], postings);
    const { settled, recentlySettled } = state;
    return next.seq === state.seq ? state : { ...next, settled, recentlySettled };
  }

  function charge(state: WalletState, posting: Posting): WalletState {
    if (removed !== 'window') return admit(state, [posting]);
    const windows = { minute: reset(state.minute, minute, posting), hour: reset(state.hour, hour, posting) };
    const next = admit({ ...state, ...windows }, [posting]);
    return next.seq === state.seq ? state : next;
  }

  function countAdmission(walletId: string, { minute, hour }: WalletState): void {
    for (const key of [`${walletId} minute ${+minute.start}`, `${walletId} hour ${+hour.start}`])
      admissions.set(key, (admissions.get(key) ?? 0) + 1);
  }

  /** One wallet's part of an update. */
  function step({ walletId, settled, postings }: WalletBatch): void {
    const before = wallets.get(walletId);
    if (!before) return;
    let state = admit(
      applyBatch(before, settled, []),
      postings.filter(({ counted }) => !counted),
    );
    for (const posting of postings.filter(({ counted }) => counted)) {
      const next = charge(state, posting);
      if (next !== state) countAdmission(walletId, next);
      state = next;
    }
    fullest = Math.max(fullest, state.holds.length);
    wallets.set(walletId, state);
  }

  /** What crosses the wire of a wallet: only that which a verdict needs. */
  function view(walletId: string, ids: ReadonlySet<string>): [string, WalletState][] {
    const state = wallets.get(walletId);
    if (!state) return [];
    const holds = state.holds.filter(({ id }) => ids.has(id));
    const recentlySettled = seen(state).recentlySettled.filter((id) => ids.has(id));
    return [[walletId, { ...seen(state), holds, recentlySettled }]];
  }

  function insertAccess(record: StoredAccess): boolean {
    if (accesses.has(record._id)) return false;
    accesses.set(record._id, record);
    if (granted.has(record._id)) decidedAgain.push(record._id);
    else granted.set(record._id, record);
    return true;
  }

  function insertEntry(entry: LedgerEntry): boolean {
    const place = `${entry.walletId} ${Number(entry.seq)}`;
    if (ledger.has(entry._id) || places.has(place)) return false;
    places.add(place);
    const { amount, balanceAfter, seq } = entry;
    ledger.set(entry._id, {
      ...entry,
      amount: Number(amount),
      balanceAfter: Number(balanceAfter),
      seq: Number(seq),
    });
    return true;
  }

  function walletsOf(caller: Actor): WalletsPort {
    return {
      async apply(batches) {
        const ids = batches.flatMap(({ postings }) => postings.map(({ id }) => id));
        const due = batches.map(({ walletId }) => walletId);
        const released = batches.flatMap(({ settled }) => settled);
        const what = () => `update ${due.join(' ')}: hold ${short(ids)}, release ${short(released)}`;
        const asked = new Set(ids);
        const read = () => new Map(due.flatMap((walletId) => view(walletId, asked)));
        if (batches.length === 1) {
          return network.call(caller, what, {
            run() {
              batches.forEach(step);
              return read();
            },
          });
        }
        await network.call(caller, what, {
          run: (limit) => batches.slice(0, limit).forEach(step),
          size: batches.length,
        });
        return network.call(caller, () => `read ${due.join(' ')}`, { run: read });
      },
      settledCount: (id) =>
        network.call(caller, () => `read settled of ${id}`, {
          run: () => view(id, new Set())[0]?.[1].settled,
        }),
      overdue: (now) =>
        network.call(caller, () => 'find overdue holds', {
          run: () =>
            [...wallets].flatMap(([walletId, { holds }]) => {
              const late = holds.filter(({ deadline }) => deadline < now);
              return late.length > 0 ? [{ walletId, holds: late }] : [];
            }),
        }),
    };
  }

  /** The few calls that the product's stores make of the driver. */
  function driverOf(caller: Actor): Db {
    const collections = {
      accesses: {
        find: (filter: ById | Before) => ({
          toArray: () =>
            '_id' in filter
              ? network.call(caller, () => `read accesses ${short(filter._id.$in)}`, {
                  run: () => filter._id.$in.flatMap((id) => accesses.get(id) ?? []),
                })
              : network.call(caller, () => 'find what is to be purged', {
                  run: () => [...accesses.values()].filter(({ purgeAt }) => purgeAt < filter.purgeAt.$lt),
                }),
        }),
        deleteMany: ({ _id: { $in: ids }, purgeAt: { $lt: now } }: ById & Before) =>
          network.call(caller, () => `purge ${short(ids)}`, {
            run(limit) {
              const due = ids.slice(0, limit).filter((id) => {
                const record = accesses.get(id);
                return record !== undefined && record.purgeAt < now;
              });
              for (const id of due) accesses.delete(id);
              return { deletedCount: due.length };
            },
            size: ids.length,
          }),
        insertMany: (records: readonly StoredAccess[]) => {
          const ids = records.map(({ _id, state }) => (state === 'void' ? `void ${_id}` : _id));
          return network.call(caller, () => `insert accesses ${short(ids)}`, {
            run: (limit) => insertUnordered(records.slice(0, limit), insertAccess),
            size: records.length,
          });
        },
        updateMany: ({ _id: { $in: ids } }: ById, { $max: { purgeAt } }: { $max: { purgeAt: Date } }) =>
          network.call(caller, () => `keep ${short(ids)}`, {
            run(limit) {
              for (const id of ids.slice(0, limit)) {
                const record = accesses.get(id);
                if (record && record.purgeAt < purgeAt) accesses.set(id, { ...record, purgeAt });
              }
            },
            size: ids.length,
          }),
      },
      ledger: {
        findOne: ({ _id }: Document) =>
          network.call(caller, () => `read entry ${_id}`, { run: () => ledger.get(_id) ?? null }),
        find: ({ _id: { $in: ids } }: ById) => ({
          toArray: () =>
            network.call(caller, () => `read entries ${short(ids)}`, {
              run: () => ids.flatMap((id) => ledger.get(id) ?? []),
            }),
        }),
        insertMany: (entries: readonly LedgerEntry[]) =>
          network.call(caller, () => `append ${short(entries.map(({ _id }) => _id))}`, {
            run: (limit) => insertUnordered(entries.slice(0, limit), insertEntry),
            size: entries.length,
          }),
      },
    };
    const driver = { collection: (name: keyof typeof collections) => collections[name] };
    return driver as unknown as Db;
  }

  return {
    wallets,
    accesses,
    granted,
    decidedAgain,
    ledger,
    admissions,
    fullest: () => fullest,
    open(id: string, caps: WalletState['caps']): void {
      const window = { start: new Date(0), used: 0 };
      const money = { balance: 0, seq: 0, settled: 0 };
      wallets.set(id, {
        ...money,
        minute: window,
        hour: window,
        caps,
        holds: [],
        holdCount: 0,
        recentlySettled: [],
      });
    },
    /** The product's stores for one process. */
    connect(caller: Actor) {
      const driver = driverOf(caller);
      return {
        wallets: walletsOf(caller),
        accesses: createAccessStore(driver),
        ledger: createLedgerStore(driver),
      };
    },
  };
}
export type SimulatedDatabase = ReturnType<typeof createDatabase>;
