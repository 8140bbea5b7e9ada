import { type Db, Long } from 'mongodb';
import type { Mode } from '../../contracts/identifiers.ts';
import type { AuditEntry } from '../platform/audit-entry.ts';
import { isDuplicateKey } from '../platform/database/connect.ts';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import type { Hold, SpendWindow, WalletState } from './wallet-model.ts';
import { idsInRing, type WalletBatch, walletPipeline, walletView } from './wallet-pipeline.ts';

/** A wallet as it is stored. int64 for everything that adds up; the driver reads them as numbers. */
interface WalletDocument {
  _id: string;
  balance: Long | number;
  currency: 'USD';
  seq: Long | number;
  settled: Long | number;
  minute: SpendWindow;
  hour: SpendWindow;
  caps: WalletState['caps'];
  holds: Hold[];
  recentlySettled: string | string[];
  audit: AuditEntry[];
  auditAt?: Date;
}

export interface Wallet extends Omit<WalletState, 'holdCount'> {
  id: string;
  currency: 'USD';
}

export const indexes: IndexDeclaration[] = [{ collection: 'wallets', key: { auditAt: 1 }, sparse: true }];

/** Interface section 8: default spend caps, in billable events. */
const defaultCaps = { perMinute: 60, perHour: 1000 };

export const walletIdOf = (partnerId: string, mode: Mode) => `${partnerId}:${mode}`;

/** The `wallets` collection; `patient` waits longer for its answers. Numbers are cents; times are Dates of the database's clock. */
export function createWalletStore(db: Db, patient: Db = db) {
  const wallets = db.collection<WalletDocument>('wallets');
  type View = WalletState & { _id: string };

  return {
    /** Opens a partner's wallet of one mode with nothing in it; once is enough, twice is harmless. */
    async open(id: string): Promise<void> {
      const epoch = new Date(0);
      const zero = () => Long.fromNumber(0);
      const wallet: WalletDocument = {
        _id: id,
        balance: zero(),
        currency: 'USD',
        seq: zero(),
        settled: zero(),
        minute: { start: epoch, used: 0 },
        hour: { start: epoch, used: 0 },
        caps: defaultCaps,
        holds: [],
        recentlySettled: '',
        audit: [],
      };
      await wallets.insertOne(wallet).catch((error: unknown) => {
        if (!isDuplicateKey(error)) throw error;
      });
    },

    /**
     * Carries all batches out in one journaled update and reads the wallets as they are afterwards. One
     * wallet takes a single round trip, several take two.
     */
    async apply(batches: readonly WalletBatch[]): Promise<Map<string, WalletState>> {
      const pipeline = walletPipeline(batches);
      const projection = walletView(batches);
      const [only, ...others] = batches;
      if (only && others.length === 0) {
        const options = { projection, returnDocument: 'after' as const };
        const view = (await wallets.findOneAndUpdate(
          { _id: only.walletId },
          pipeline,
          options,
        )) as View | null;
        return new Map(view ? [[view._id, view]] : []);
      }
      const due = { _id: { $in: batches.map(({ walletId }) => walletId) } };
      await wallets.updateMany(due, pipeline);
      const views = await wallets.find(due, { projection }).toArray();
      return new Map((views as unknown as View[]).map((view) => [view._id, view]));
    },

    async find(id: string): Promise<Wallet | undefined> {
      const found = await wallets.findOne({ _id: id });
      if (!found) return undefined;
      const { _id, ...rest } = found;
      return {
        id: _id,
        ...rest,
        balance: Number(rest.balance),
        seq: Number(rest.seq),
        settled: Number(rest.settled),
        recentlySettled: idsInRing(rest.recentlySettled),
      };
    },

    /** Ids of all wallets, in order, after `after`. */
    async ids({ after, limit }: { after?: string | undefined; limit: number }): Promise<string[]> {
      const filter = after === undefined ? {} : { _id: { $gt: after } };
      const found = await wallets
        .find(filter, { projection: { _id: 1 } })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray();
      return found.map(({ _id }) => _id);
    },

    /** How many ids this wallet has settled: the basis of a posting, taken before its record is looked for. */
    async settledCount(id: string): Promise<number | undefined> {
      const found = await wallets.findOne({ _id: id }, { projection: { settled: 1 } });
      return found ? Number(found.settled) : undefined;
    },

    /** Changes the spend caps that are given; the audit entry is written with them and copied to the log from here. */
    async setCaps(id: string, caps: Partial<WalletState['caps']>, entry: AuditEntry): Promise<void> {
      const given = Object.entries(caps).map(([bucket, cap]) => [`caps.${bucket}`, cap]);
      const set = { ...Object.fromEntries(given), auditAt: entry.at };
      await wallets.updateOne({ _id: id }, { $set: set, $push: { audit: entry } });
    },

    /** Wallets with holds past their deadline at `now`, each with just those. */
    async overdue(now: Date): Promise<{ walletId: string; holds: Hold[] }[]> {
      const late = { $filter: { input: '$holds', cond: { $lt: ['$$this.deadline', now] } } };
      return patient
        .collection('wallets')
        .aggregate<{ walletId: string; holds: Hold[] }>([
          { $match: { holds: { $elemMatch: { deadline: { $lt: now } } } } },
          { $project: { _id: 0, walletId: '$_id', holds: late } },
        ])
        .toArray();
    },
  };
}
export type WalletStore = ReturnType<typeof createWalletStore>;
