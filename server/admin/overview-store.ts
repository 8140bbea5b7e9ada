import type { Db } from 'mongodb';
import { hour, minute, windowStart } from '../platform/windows.ts';
import type { Backlog, BacklogStore } from './backlog-store.ts';

/** What ops look at first; read from the records of all features, and never written by this one. */
export interface Overview extends Backlog {
  /** Endpoints with failed deliveries in the last day, the worst first. */
  failingEndpoints: { keyId: string; partnerId: string; failed: number; lastError: string }[];
  /** Live wallets that are nearly empty. */
  lowWallets: { walletId: string; balance: number }[];
  /** Wallets whose cap is reached in the present minute or hour. */
  cappedWallets: { walletId: string; bucket: 'minute' | 'hour'; limit: number }[];
}

const day = 86_400_000;
/** A live wallet below this, in cents, is nearly empty. */
const lowBalance = 1_000;
const mostRows = 20;

/** The last page of a wallet's ledger. */
interface Wallet {
  _id: string;
  state: {
    balance: number;
    seq: number;
    minute: { start: Date; used: number };
    hour: { start: Date; used: number };
    caps: { perMinute: number; perHour: number };
  };
}

/** Last pages, one index look-up a wallet; the first pages name the wallets. */
const lastPages = [
  { $match: { n: 0 } },
  {
    $lookup: {
      from: 'ledger',
      let: { first: { $concat: ['$walletId', '/'] }, beyond: { $concat: ['$walletId', '0'] } },
      pipeline: [
        { $match: { $expr: { $and: [{ $gte: ['$_id', '$$first'] }, { $lt: ['$_id', '$$beyond'] }] } } },
        { $sort: { _id: -1 } },
        { $limit: 1 },
        { $project: { _id: 0, state: 1 } },
      ],
      as: 'last',
    },
  },
  { $project: { _id: '$walletId', state: { $first: '$last.state' } } },
];

export type OverviewStore = ReturnType<typeof createOverviewStore>;

export function createOverviewStore(db: Db, backlog: Pick<BacklogStore, 'read'>) {
  const deliveries = db.collection<{ status: string; createdAt: Date }>('deliveries');
  const ledger = db.collection('ledger');

  const readFailing = (at: Date) =>
    deliveries
      .aggregate<Overview['failingEndpoints'][number]>([
        {
          $match: {
            status: 'failed',
            trigger: { $ne: 'test' },
            createdAt: { $gt: new Date(at.getTime() - day) },
          },
        },
        { $sort: { createdAt: -1 } },
        {
          $group: {
            _id: '$keyId',
            partnerId: { $first: '$partnerId' },
            failed: { $sum: 1 },
            last: { $first: { $last: '$attempts' } },
          },
        },
        { $sort: { failed: -1 } },
        { $limit: mostRows },
        {
          $project: {
            _id: 0,
            keyId: '$_id',
            partnerId: 1,
            failed: 1,
            lastError: { $ifNull: ['$last.detail', { $ifNull: ['$last.error', 'unknown'] }] },
          },
        },
      ])
      .toArray();

  async function readWallets(at: Date): Promise<Pick<Overview, 'lowWallets' | 'cappedWallets'>> {
    const wallets = await ledger.aggregate<Wallet>(lastPages, { hint: 'n_1_walletId_1' }).toArray();
    const isFull = ({ start, used }: Wallet['state']['minute'], length: number, cap: number) =>
      start.getTime() === windowStart(at.getTime(), length) && used >= cap;
    const low = wallets.filter(
      ({ _id, state }) => _id.endsWith(':live') && state.seq > 0 && state.balance < lowBalance,
    );
    const capped = wallets.flatMap(({ _id: walletId, state: { minute: m, hour: h, caps } }) => [
      ...(isFull(m, minute, caps.perMinute)
        ? [{ walletId, bucket: 'minute' as const, limit: caps.perMinute }]
        : []),
      ...(isFull(h, hour, caps.perHour) ? [{ walletId, bucket: 'hour' as const, limit: caps.perHour }] : []),
    ]);
    return {
      lowWallets: low
        .map(({ _id, state }) => ({ walletId: _id, balance: state.balance }))
        .sort((a, b) => a.balance - b.balance)
        .slice(0, mostRows),
      cappedWallets: capped.slice(0, mostRows),
    };
  }

  return {
    async read(now: number): Promise<Overview> {
      const at = new Date(now);
      const [waiting, failingEndpoints, money] = await Promise.all([
        backlog.read(now),
        readFailing(at),
        readWallets(at),
      ]);
      return { ...waiting, failingEndpoints, ...money };
    },
  };
}
