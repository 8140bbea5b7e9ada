import type { Db, Document } from 'mongodb';
import type { EndpointHealth } from '../../contracts/admin/endpoint-health.ts';

/** Work that is pending in the database. Each figure is bounded and read from an index. */
export interface Backlog {
  at: Date;
  /** Up to 100,000 of each status. `delivered` is an estimate: all deliveries without the other statuses. */
  deliveries: { byStatus: Record<string, number>; late: number; oldestDueAt?: Date };
  jobs: { waiting: number; late: number; failed: number; oldestDueAt?: Date };
  /** Webhook endpoints in trouble, the worst first. */
  endpoints?: EndpointHealth[];
  /** Ledger pages whose events are still to be published. */
  pages: { unpublished: number; oldestAt?: Date };
}

/** A delivery or job that has been due for longer, in milliseconds, is late. */
export const lateAfterMs = 5_000;
/** An index of 100,000 entries is counted in some 20 ms. */
const mostCounted = 100_000;

/** Due deliveries that the search for one that is not paused looks through. */
const mostLookedThrough = 10_000;

/** All jobs, by the index that begins with their name. */
const anyJob = { name: { $gt: '' } };

export type BacklogStore = ReturnType<typeof createBacklogStore>;

export function createBacklogStore(db: Db) {
  const deliveries = db.collection<{ nextAttemptAt?: Date }>('deliveries');
  const keys = db.collection<{ _id: string }>('apiKeys');
  const jobs = db.collection<{ nextRunAt: Date | null }>('jobs');
  const ledger = db.collection<{ at: Date }>('ledger');

  /** `countDocuments` would read the documents; this counts entries of an index. */
  async function count(collection: string, query: Document): Promise<number> {
    const { n } = await db.command({ count: collection, query, limit: mostCounted });
    return Number(n);
  }

  /** Keys whose webhooks are paused: what waits for them is not late. */
  async function pausedKeys(at: Date): Promise<string[]> {
    const found = await keys.find({ 'pause.until': { $gt: at } }, { projection: { _id: 1 } }).toArray();
    return found.map(({ _id }) => _id);
  }

  async function countLate(before: Date, paused: readonly string[]): Promise<number> {
    const late = { status: 'pending', nextAttemptAt: { $lt: before } };
    const [all, waiting] = await Promise.all([
      count('deliveries', late),
      paused.length > 0
        ? count('deliveries', { ...late, keyId: { $in: paused }, lane: { $in: ['first', 'retry'] } })
        : 0,
    ]);
    return Math.max(0, all - waiting);
  }

  /** Looks through the deliveries that have been due longest, up to a bound: those of paused keys may be many. */
  async function longestDue(
    at: Date,
    paused: readonly string[],
  ): Promise<{ nextAttemptAt?: Date } | undefined> {
    const [found] = await deliveries
      .aggregate<{ nextAttemptAt?: Date }>([
        { $match: { status: 'pending', nextAttemptAt: { $lte: at } } },
        { $sort: { nextAttemptAt: 1 } },
        { $limit: paused.length > 0 ? mostLookedThrough : 1 },
        { $match: { keyId: { $nin: paused } } },
        { $limit: 1 },
        { $project: { nextAttemptAt: 1 } },
      ])
      .toArray();
    return found;
  }

  async function readDeliveries(at: Date): Promise<Backlog['deliveries']> {
    const lateSince = new Date(at.getTime() - lateAfterMs);
    const paused = await pausedKeys(at);
    const inStatus = (status: string) => count('deliveries', { status });
    const [all, pending, inFlight, failed, skipped, late, oldest] = await Promise.all([
      deliveries.estimatedDocumentCount(),
      inStatus('pending'),
      inStatus('in_flight'),
      inStatus('failed'),
      inStatus('skipped'),
      countLate(lateSince, paused),
      longestDue(at, paused),
    ]);
    const delivered = Math.max(0, all - pending - inFlight - failed - skipped);
    const byStatus = { pending, in_flight: inFlight, delivered, failed, skipped };
    return { byStatus, late, ...(oldest?.nextAttemptAt && { oldestDueAt: oldest.nextAttemptAt }) };
  }

  async function readJobs(at: Date): Promise<Backlog['jobs']> {
    const due = { ...anyJob, lockedAt: null, nextRunAt: { $lt: new Date(at.getTime() - lateAfterMs) } };
    const [waiting, late, failed, oldest] = await Promise.all([
      count('jobs', { ...anyJob, nextRunAt: { $gt: new Date(0) } }),
      count('jobs', due),
      count('jobs', { lastFinishedAt: { $gt: new Date(0) }, failReason: { $type: 'string' } }),
      jobs.findOne({ ...anyJob, lockedAt: null, nextRunAt: { $lte: at } }, { sort: { nextRunAt: 1 } }),
    ]);
    return { waiting, late, failed, ...(oldest?.nextRunAt && { oldestDueAt: oldest.nextRunAt }) };
  }

  async function readPages(): Promise<Backlog['pages']> {
    const [unpublished, oldest] = await Promise.all([
      count('ledger', { unpublished: true }),
      ledger.findOne({ unpublished: true }, { sort: { at: 1 }, projection: { at: 1 } }),
    ]);
    return { unpublished, ...(oldest && { oldestAt: oldest.at }) };
  }

  return {
    async read(now: number): Promise<Backlog> {
      const at = new Date(now);
      const [delivering, scheduled, pages] = await Promise.all([
        readDeliveries(at),
        readJobs(at),
        readPages(),
      ]);
      return { at, deliveries: delivering, jobs: scheduled, pages };
    },
  };
}
