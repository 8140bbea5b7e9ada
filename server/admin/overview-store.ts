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
  oldestHoldAt?: Date;
}

const day = 86_400_000;
/** A delivery or job that has been due for longer, in milliseconds, is late. */
const lateAfter = 5_000;
/** A live wallet below this, in cents, is nearly empty. */
const lowBalance = 1_000;
const mostRows = 20;

interface Wallet {
  _id: string;
  balance: number;
}

export type OverviewStore = ReturnType<typeof createOverviewStore>;

export function createOverviewStore(db: Db) {
  const deliveries = db.collection<{ status: string; nextAttemptAt?: Date; createdAt: Date }>('deliveries');
  const jobs = db.collection<{ nextRunAt: Date | null; lockedAt?: Date | null; failReason?: string | null }>(
    'jobs',
  );
  const wallets = db.collection<Wallet>('wallets');

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
  ): Promise<Pick<Overview, 'lowWallets' | 'cappedWallets' | 'oldestHoldAt'>> {
    const window = (length: number) => new Date(windowStart(at.getTime(), length));
    const full = (bucket: 'minute' | 'hour', cap: string, length: number) => ({
      $and: [{ $eq: [`$${bucket}.start`, window(length)] }, { $gte: [`$${bucket}.used`, `$caps.${cap}`] }],
    });
    const [low, minutes, hours, held] = await Promise.all([
      wallets
        .find(
          { _id: /:live$/, seq: { $gt: 0 }, balance: { $lt: lowBalance } },
          { projection: { balance: 1 }, sort: { balance: 1 }, limit: mostRows },
        )
        .toArray(),
      wallets
        .find({ $expr: full('minute', 'perMinute', minute) }, { projection: { caps: 1 }, limit: mostRows })
        .toArray(),
      wallets
        .find({ $expr: full('hour', 'perHour', hour) }, { projection: { caps: 1 }, limit: mostRows })
        .toArray(),
      wallets
        .aggregate<{ at: Date }>([
          { $match: { 'holds.0': { $exists: true } } },
          { $project: { at: { $min: '$holds.at' } } },
          { $sort: { at: 1 } },
          { $limit: 1 },
        ])
        .toArray(),
    ]);
    const caps = (wallet: object) => (wallet as { caps: { perMinute: number; perHour: number } }).caps;
    return {
      lowWallets: low.map(({ _id, balance }) => ({ walletId: _id, balance: Number(balance) })),
      cappedWallets: [
        ...minutes.map((wallet) => ({
          walletId: wallet._id,
          bucket: 'minute' as const,
          limit: caps(wallet).perMinute,
        })),
        ...hours.map((wallet) => ({
          walletId: wallet._id,
          bucket: 'hour' as const,
          limit: caps(wallet).perHour,
        })),
      ],
      ...(held[0] && { oldestHoldAt: held[0].at }),
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
