import type { Db } from 'mongodb';
import { hour, minute, windowStart } from '../platform/windows.ts';

/** What ops look at first; read from the records of all features, and never written by this one. */
export interface Overview {
  at: Date;
  deliveries: { byStatus: Record<string, number>; late: number; oldestDueAt?: Date };
  /** Endpoints with failed deliveries in the last day, the worst first. */
  failingEndpoints: { keyId: string; partnerId: string; failed: number; lastError: string }[];
  jobs: { waiting: number; late: number; failed: number; oldestDueAt?: Date };
  /** Live wallets that are nearly empty. */
  lowWallets: { walletId: string; balance: number }[];
  /** Wallets whose cap is reached in the present minute or hour. */
  cappedWallets: { walletId: string; bucket: 'minute' | 'hour'; limit: number }[];
  /** When the oldest ledger page was written whose events are still to be published. */
  oldestUnpublishedAt?: Date;
}

const day = 86_400_000;
/** A delivery or job that has been due for longer, in milliseconds, is late. */
const lateAfter = 5_000;
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

export function createOverviewStore(db: Db) {
  const deliveries = db.collection<{ status: string; nextAttemptAt?: Date; createdAt: Date }>('deliveries');
  const jobs = db.collection<{ nextRunAt: Date | null; lockedAt?: Date | null; failReason?: string | null }>(
    'jobs',
  );
  const ledger = db.collection<{ at: Date }>('ledger');

  async function readDeliveries(at: Date): Promise<Overview['deliveries']> {
    const late = { status: 'pending', nextAttemptAt: { $lt: new Date(at.getTime() - lateAfter) } };
    const [groups, lateOnes, oldest] = await Promise.all([
      deliveries
        .aggregate<{ _id: string; count: number }>([{ $group: { _id: '$status', count: { $sum: 1 } } }])
        .toArray(),
      deliveries.countDocuments(late),
      deliveries.findOne({ status: 'pending', nextAttemptAt: { $lte: at } }, { sort: { nextAttemptAt: 1 } }),
    ]);
    const byStatus = Object.fromEntries(groups.map(({ _id, count }) => [_id, count]));
    return { byStatus, late: lateOnes, ...(oldest?.nextAttemptAt && { oldestDueAt: oldest.nextAttemptAt }) };
  }

  async function readJobs(at: Date): Promise<Overview['jobs']> {
    const due = { lockedAt: null, nextRunAt: { $lt: new Date(at.getTime() - lateAfter) } };
    const [waiting, late, failed, oldest] = await Promise.all([
      jobs.countDocuments({ nextRunAt: { $ne: null } }),
      jobs.countDocuments(due),
      jobs.countDocuments({ failReason: { $type: 'string' } }),
      jobs.findOne({ lockedAt: null, nextRunAt: { $lte: at } }, { sort: { nextRunAt: 1 } }),
    ]);
    return { waiting, late, failed, ...(oldest?.nextRunAt && { oldestDueAt: oldest.nextRunAt }) };
  }

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

  async function readWallets(
    at: Date,
  ): Promise<Pick<Overview, 'lowWallets' | 'cappedWallets' | 'oldestUnpublishedAt'>> {
    const [wallets, unpublished] = await Promise.all([
      ledger.aggregate<Wallet>(lastPages, { hint: 'n_1_walletId_1' }).toArray(),
      ledger
        .find({ unpublished: true }, { projection: { at: 1 } })
        .sort({ at: 1 })
        .limit(1)
        .next(),
    ]);
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
      ...(unpublished && { oldestUnpublishedAt: unpublished.at }),
    };
  }

  return {
    async read(now: number): Promise<Overview> {
      const at = new Date(now);
      const [delivering, failingEndpoints, scheduled, money] = await Promise.all([
        readDeliveries(at),
        readFailing(at),
        readJobs(at),
        readWallets(at),
      ]);
      return { at, deliveries: delivering, failingEndpoints, jobs: scheduled, ...money };
    },
  };
}
