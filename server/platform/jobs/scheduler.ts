import { once } from 'node:events';
import { hostname } from 'node:os';
import { MongoJobRepository } from '@agendajs/mongo-backend';
import { Agenda } from 'agenda';
import { type Collection, type Db, type Filter, MinKey, ObjectId } from 'mongodb';
import type { Total } from '../../../contracts/admin/references.ts';
import { anyOf, type Read } from '../database/reads/joint-reads.ts';
import { countThrough } from '../database/reads/look-through.ts';
import type { IndexDeclaration } from '../database/schema/indexes.ts';
import { requireFound } from '../errors.ts';
import { randomRequestId } from '../ids.ts';
import type { Logger } from '../telemetry/logging.ts';
import { type Background, createBackground } from './background.ts';
import { type Job, readJob } from './stored-job.ts';

interface Settings {
  /** A connected database. Agenda opens no connection of its own. */
  db: Db;
  /** Default: this scheduler's own. */
  background?: Pick<Background, 'read' | 'begin'>;
  logger: Pick<Logger, 'warn'>;
  /** How often to look for due jobs, in milliseconds. Jobs that are due within that time are started by a timer. */
  processEvery: number;
}

type StoredJob = { _id: ObjectId } & Record<string, unknown>;

export const collection = 'jobs';

/**
 * How long a job stays locked after its process has died, in milliseconds. Then another process runs it. Agenda's default of
 * 10 minutes is longer than the whole retry schedule of a webhook.
 */
export const lockLifetime = 60_000;
/** How long `stop` waits for running jobs, in milliseconds. */
const longestWaitAtStop = 15_000;
/** How long jobs are kept after they ran, in milliseconds. */
export const keepFinished = 24 * 3_600_000;

/** Matches every name. With a condition on the name, the database uses the index. */
const anyName = { $gte: new MinKey() };
/** Matches jobs that wait for their time. A job that runs is locked, and one that has run has no next time. */
const waitingOnly = { lockedAt: null, nextRunAt: { $ne: null } } as const;
/** Matches jobs that wait for their time or run. A process that has locked a job may have died. */
const unfinishedOnly = { $or: [{ lockedAt: { $ne: null } }, { nextRunAt: { $ne: null } }] };

const finished = () => ({
  nextRunAt: null,
  lockedAt: null,
  lastFinishedAt: { $lt: new Date(Date.now() - keepFinished) },
});
/**
 * Matches jobs whose lock was made by a process with a clock that was ahead. If that process has died, Agenda would wait until its
 * time has come.
 */
const lockedAhead = () => ({ name: anyName, lockedAt: { $gt: new Date(Date.now() + lockLifetime) } });
/** Finds whether there are jobs for `sweep` to delete or to unlock. */
export const sweepReads = (): Read[] => [anyOf(collection, finished()), anyOf(collection, lockedAhead())];

export const indexes: IndexDeclaration[] = [
  // The index that Agenda's repository would create itself, under the same name.
  {
    collection,
    key: { name: 1, nextRunAt: 1, priority: -1, lockedAt: 1, disabled: 1 },
    name: 'findAndLockNextJobIndex',
  },
  { collection, key: { lastFinishedAt: 1 }, sparse: true },
];

/**
 * Schedules jobs with Agenda, in the collection `jobs` of `db`. Every process can schedule jobs; only processes that call
 * `start` run them.
 */
export function createScheduler({ db, background = createBackground(db), logger, processEvery }: Settings) {
  const repository = new MongoJobRepository({ mongo: db, db: { collection }, ensureIndex: false });
  const jobs: Collection<StoredJob> = db.collection(collection);
  const names = new Set<string>();
  let lastPolledAt: number | undefined;
  let looking: Promise<boolean> | undefined;

  /** Whether a job of any name can be locked. The calls of one poll, one for each name, share one read. */
  function isAnyDue(nextScanAt: Date, lockDeadline: Date): Promise<boolean> {
    const waits = { lockedAt: null, nextRunAt: { $lte: nextScanAt } };
    const due = { name: { $in: [...names] }, $or: [waits, { lockedAt: { $lte: lockDeadline } }] };
    if (looking) return looking;
    looking = background
      .read(anyOf(collection, due))
      .then((found) => found.length > 0)
      .finally(() => {
        looking = undefined;
      });
    background.begin();
    return looking;
  }

  // Agenda locks a job by a write for each name. While nothing is due, one read replaces the writes of a poll. Agenda has no event
  // for a poll, so the time of the last one is noted here too.
  const getNextJobToRun = repository.getNextJobToRun.bind(repository);
  repository.getNextJobToRun = async (name, nextScanAt, lockDeadline, ...rest) => {
    const isDue = await isAnyDue(nextScanAt, lockDeadline);
    const found = isDue ? await getNextJobToRun(name, nextScanAt, lockDeadline, ...rest) : undefined;
    lastPolledAt = performance.now();
    return found;
  };
  const agenda = new Agenda({
    // Only the repository: Agenda's MongoDB backend would add collections and indexes for a log that we do not use.
    backend: {
      name: 'MongoDB',
      repository,
      connect: () => repository.connect(),
      disconnect: () => Promise.resolve(),
    },
    name: `${hostname()}:${process.pid}:${randomRequestId().slice(-8)}`,
    processEvery,
    defaultLockLifetime: lockLifetime,
    removeOnComplete: true,
  });

  /** How many jobs this process runs now. */
  let running = 0;
  agenda.on('error', (error) => logger.warn({ err: error }, 'the scheduler reported an error'));
  agenda.on('fail', (error, job) => logger.warn({ err: error, job: job.attrs.name }, 'a job failed'));
  agenda.on('start', () => {
    running += 1;
  });
  agenda.on('complete', () => {
    running -= 1;
  });

  /** The condition for jobs that follow a job in the order of `list`: by their next time, then by their ids. */
  async function afterJob(id: string): Promise<Filter<StoredJob>> {
    const last = requireFound(await jobs.findOne(byId(id)), `The job ${id} has run; list from the start`);
    // An expression compares values of all types, as the sort does. A query operator would leave out the jobs whose time is
    // null or, because they are malformed, no date.
    const nextRunAt = { $ifNull: ['$nextRunAt', null] };
    const lastNextRunAt = { $literal: last['nextRunAt'] ?? null };
    const isLater = { $gt: [nextRunAt, lastNextRunAt] };
    const isLaterId = { $and: [{ $eq: [nextRunAt, lastNextRunAt] }, { $gt: ['$_id', last._id] }] };
    return { $expr: { $or: [isLater, isLaterId] } };
  }

  return {
    /** Defines the handler of jobs of this name. A throw marks the job as failed. */
    define(name: string, handler: (key: string) => Promise<void>): void {
      names.add(name);
      // Agenda expects a callback from a function with two parameters, so the handler must have only one.
      // oxlint-disable-next-line typescript/no-misused-promises -- the type of the other overload
      agenda.define<{ key: string }>(name, async (job) => handler(job.attrs.data.key));
    },

    /**
     * Runs `name` at `when`, unless a job with this name and key waits. By default a job that a process has locked does not count,
     * because it may have begun already. With `unless: 'unfinished'` it counts.
     */
    async at(
      name: string,
      when: Date,
      key: string,
      { unless }: { unless?: 'waiting' | 'unfinished' } = {},
    ): Promise<void> {
      const existing = unless === 'unfinished' ? unfinishedOnly : waitingOnly;
      await agenda
        .create(name, { key })
        .unique({ 'data.key': key, ...existing }, { insertOnly: true })
        .schedule(when)
        .save();
    },

    /** The next due job first. `after` is the id of the last job of the page before. */
    async list({ name, limit, after }: { name?: string; limit: number; after?: string }): Promise<Job[]> {
      const following = after === undefined ? {} : await afterJob(after);
      const found = await jobs
        .find({ name: name ?? anyName, ...following })
        .sort({ nextRunAt: 1, _id: 1 })
        .limit(limit)
        .toArray();
      return found.map(readJob);
    },

    count: (name: string | undefined): Promise<Total> =>
      countThrough(jobs, { indexed: { name: name ?? anyName }, rest: {} }),

    async show(id: string): Promise<Job | undefined> {
      const found = await jobs.findOne(byId(id));
      return found ? readJob(found) : undefined;
    },

    /** Changes the time and key of a job; false if there is no such job that waits. */
    async move(id: string, when: Date, key: string): Promise<boolean> {
      const { matchedCount } = await jobs.updateOne(
        { ...byId(id), ...waitingOnly },
        { $set: { nextRunAt: when, 'data.key': key } },
      );
      return matchedCount === 1;
    },

    /** Removes a job, unless a living process runs it. @returns whether the job was removed */
    async cancel(id: string): Promise<boolean> {
      const [oldest, newest] = [-lockLifetime, lockLifetime].map((ms) => new Date(Date.now() + ms));
      // Matches a job without a lock, and one with a lock of another time, whose process has died.
      const notRunning = { lockedAt: { $not: { $gte: oldest, $lte: newest } } };
      const { deletedCount } = await jobs.deleteOne({ ...byId(id), ...notRunning });
      return deletedCount === 1;
    },

    /** Deletes jobs that ran more than a day ago, and makes locks of a time to come expire, so that a process takes up their jobs. */
    async sweep(): Promise<void> {
      await jobs.deleteMany(finished());
      await jobs.updateMany(lockedAhead(), { $set: { lockedAt: new Date(0) } });
    },

    async start(): Promise<void> {
      lastPolledAt = performance.now();
      await agenda.start();
    },

    /** Seconds since this process last looked for due jobs with success; undefined if it runs no jobs. */
    tickAge: () => (lastPolledAt === undefined ? undefined : (performance.now() - lastPolledAt) / 1000),

    /**
     * Starts no more jobs, unlocks waiting ones, and waits at most 15 s for running ones. Agenda's timers may keep the
     * process alive for half a lock lifetime more, so the caller has to end it with `process.exit`.
     */
    async stop(): Promise<void> {
      const closeConnection = false; // Other parts of the process use the connection.
      await agenda.stop(closeConnection);
      const deadline = AbortSignal.timeout(longestWaitAtStop);
      while (running > 0 && !deadline.aborted)
        await once(agenda, 'complete', { signal: deadline }).catch(() => undefined);
    },
  };
}

export type Scheduler = ReturnType<typeof createScheduler>;

/** A filter by id. It matches nothing if `id` is not an id of Agenda. */
function byId(id: string): Filter<StoredJob> {
  return { _id: /^[0-9a-f]{24}$/.test(id) ? ObjectId.createFromHexString(id) : new ObjectId() };
}
