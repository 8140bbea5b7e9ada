import type { Db, Document } from 'mongodb';
import type { EndpointHealth } from '../../../contracts/admin/endpoint-health.ts';
import { collection as ledgerCollection } from '../../billing/ledger/ledger-store.ts';
import { auditCollection, faultCollection } from '../../billing/wallets/audit/fault-store.ts';
import { collection as keyCollection } from '../../partners/keys/key-store.ts';
import { collection as jobCollection } from '../../platform/jobs/scheduler.ts';
import { inAnyLane } from '../../webhooks/delivery/delivery.ts';
import { collection as deliveryCollection } from '../../webhooks/delivery/delivery-store.ts';

/** Work that is pending in the database. Each figure is bounded and read from an index. */
export interface Backlog {
  at: Date;
  /** Counts up to 100,000 of each status. `delivered` is an estimate: all deliveries less those of the other statuses. */
  deliveries: { byStatus: Record<string, number>; late: number; oldestDueAt?: Date };
  jobs: { waiting: number; late: number; failed: number; oldestDueAt?: Date };
  missingRoles?: readonly { role: string }[];
  /** Webhook endpoints in trouble, the worst first. */
  endpoints?: EndpointHealth[];
  /** Ledger pages with events that are still to be published. */
  pages: { unpublished: number; oldestAt?: Date };
  /** Wallets whose last audit has open findings, some of their ids, and when the last nightly audit of all wallets ended. */
  audit: { faulty: number; wallets: string[]; endedAt?: Date };
}

interface Queued {
  nextAttemptAt?: Date;
  keyId?: string;
  /** The first due time of an attempt whose `nextAttemptAt` was moved. */
  overdue?: { since: Date };
}

/** Matches pending deliveries that were first due before a time. No delivery matches both conditions. */
export const dueBefore = (before: Date) =>
  [
    { status: 'pending', nextAttemptAt: { $lt: before } },
    { status: 'pending', 'overdue.since': { $lt: before }, nextAttemptAt: { $gte: before } },
  ] as const;

const overdueFirst = { 'overdue.since': 1 } as const;

/** A delivery or job is late if it has been due for longer than this, in milliseconds. */
export const lateAfterMs = 5_000;
/** The most index entries that a count reads: 100,000 take about 20 ms. */
const mostCounted = 100_000;

const mostShown = 20;

/** The condition that all jobs meet. The index that begins with `name` serves it. */
const allJobs = { name: { $gt: '' } };

export type BacklogStore = ReturnType<typeof createBacklogStore>;

export function createBacklogStore(db: Db) {
  const deliveries = db.collection<Queued>(deliveryCollection);
  const keys = db.collection<{ _id: string }>(keyCollection);
  const jobs = db.collection<{ nextRunAt: Date | null }>(jobCollection);
  const ledger = db.collection<{ at: Date }>(ledgerCollection);
  const faults = db.collection<{ _id: string }>(faultCollection);
  const audits = db.collection<{ _id: string; endedAt?: Date; lastEndedAt?: Date }>(auditCollection);

  /** Counts entries of an index. `countDocuments` would read the documents. */
  async function count(collection: string, query: Document): Promise<number> {
    const { n } = await db.command({ count: collection, query, limit: mostCounted });
    return Number(n);
  }

  /** Returns the keys with paused webhooks. Their waiting deliveries do not count as late. */
  async function pausedKeys(at: Date): Promise<string[]> {
    const found = await keys.find({ 'pause.until': { $gt: at } }, { projection: { _id: 1 } }).toArray();
    return found.map(({ _id }) => _id);
  }

  async function countLate(before: Date, paused: readonly string[]): Promise<number> {
    const [late, moved] = dueBefore(before);
    const [all, ofPaused, heldBack] = await Promise.all([
      count('deliveries', late),
      paused.length > 0 ? count('deliveries', { ...late, keyId: { $in: paused }, ...inAnyLane }) : 0,
      count('deliveries', { ...moved, keyId: { $nin: paused } }),
    ]);
    // The counts are of different moments, so the second may be larger than the first.
    return Math.max(0, all - ofPaused) + heldBack;
  }

  /** Returns the delivery that has been due longest and is not paused, by its present due time. */
  function longestDue(at: Date, paused: readonly string[]): Promise<Queued | null> {
    const due = { status: 'pending', nextAttemptAt: { $lte: at } };
    const sort = { nextAttemptAt: 1 } as const;
    if (paused.length === 0) return deliveries.findOne(due, { sort, hint: sort });
    // With the index by key, the query skips the paused keys, which may have very many due deliveries.
    const ofOthers = { ...due, ...inAnyLane, keyId: { $nin: [...paused] } };
    return deliveries.findOne(ofOthers, { sort, hint: { keyId: 1, lane: 1, nextAttemptAt: 1 } });
  }

  /** Returns since when the oldest attempt is due that is not paused, by its first due time. */
  async function oldestDue(at: Date, paused: readonly string[]): Promise<Date | undefined> {
    const [, moved] = dueBefore(at);
    const [due, heldBack] = await Promise.all([
      longestDue(at, paused),
      deliveries.findOne(
        { ...moved, keyId: { $nin: [...paused] } },
        { sort: overdueFirst, hint: overdueFirst },
      ),
    ]);
    const times = [due?.overdue?.since ?? due?.nextAttemptAt, heldBack?.overdue?.since];
    const [oldest] = times.flatMap((time) => time?.getTime() ?? []).toSorted((one, other) => one - other);
    return oldest === undefined ? undefined : new Date(oldest);
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
      oldestDue(at, paused),
    ]);
    // Nearly all deliveries have arrived, and to count those would take long. So they are what an estimate of all leaves.
    const delivered = Math.max(0, all - pending - inFlight - failed - skipped);
    const byStatus = { pending, in_flight: inFlight, delivered, failed, skipped };
    return { byStatus, late, ...(oldest && { oldestDueAt: oldest }) };
  }

  async function readJobs(at: Date): Promise<Backlog['jobs']> {
    // A locked job is running. A job that will not run again has no `nextRunAt`.
    const due = { ...allJobs, lockedAt: null, nextRunAt: { $lt: new Date(at.getTime() - lateAfterMs) } };
    const [waiting, late, failed, oldest] = await Promise.all([
      // Any time is later than 1970, so this means that the field has a value. Unlike `$exists`, it can use the field's index.
      count('jobs', { ...allJobs, nextRunAt: { $gt: new Date(0) } }),
      count('jobs', due),
      count('jobs', { lastFinishedAt: { $gt: new Date(0) }, failReason: { $type: 'string' } }),
      jobs.findOne({ ...allJobs, lockedAt: null, nextRunAt: { $lte: at } }, { sort: { nextRunAt: 1 } }),
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

  async function readAudit(): Promise<Backlog['audit']> {
    const [faulty, found, run] = await Promise.all([
      count('ledgerFaults', {}),
      faults
        .find({}, { projection: { _id: 1 } })
        .sort({ _id: 1 })
        .limit(mostShown)
        .toArray(),
      audits.findOne({ _id: 'nightly' }),
    ]);
    const endedAt = run?.endedAt ?? run?.lastEndedAt;
    return { faulty, wallets: found.map(({ _id }) => _id), ...(endedAt && { endedAt }) };
  }

  return {
    async read(now: number): Promise<Backlog> {
      const at = new Date(now);
      const [delivering, scheduled, pages, audit] = await Promise.all([
        readDeliveries(at),
        readJobs(at),
        readPages(),
        readAudit(),
      ]);
      return { at, deliveries: delivering, jobs: scheduled, pages, audit };
    },
  };
}
