import { hostname } from 'node:os';
import { MongoJobRepository } from '@agendajs/mongo-backend';
import { Agenda } from 'agenda';
import { type Collection, type Db, type Filter, ObjectId } from 'mongodb';
import type { IndexDeclaration } from './database/indexes.ts';
import { ApiError } from './errors.ts';
import { randomRequestId } from './ids.ts';
import type { Logger } from './logging.ts';

/** A job as it is stored; times are dates of the scheduler's own clock. */
export interface Job {
  id: string;
  name: string;
  /** Undefined while it runs and once it has run. */
  nextRunAt: Date | undefined;
  lockedAt: Date | undefined;
  /** The process that has locked it; undefined where none has. */
  lockedBy: string | undefined;
  lastRunAt: Date | undefined;
  failReason: string | undefined;
  key: string;
}

/** What the rest of the system sees of Agenda. Scheduling works in every process; running needs `start`. */
export interface Scheduler {
  /** Defines the handler of jobs of this name. A throw marks the job as failed. */
  define(name: string, handler: (key: string) => Promise<void>): void;
  /** Runs `name` at `when`. While a job with this name and key waits, no second one is created. */
  at(name: string, when: Date, key: string): Promise<void>;
  /** The next due first; `after` is the id of the last job of the page before. */
  list(page: { name?: string; limit: number; after?: string }): Promise<Job[]>;
  show(id: string): Promise<Job | undefined>;
  /** Moves a job to another time and key; false where there is none that waits. */
  move(id: string, when: Date, key: string): Promise<boolean>;
  /** Removes a job that waits; false where there is none. */
  cancel(id: string): Promise<boolean>;
  /** Deletes jobs that ran more than a day ago. */
  sweep(): Promise<void>;
  start(): Promise<void>;
  /** Seconds since this process last looked for due jobs and got an answer; undefined where it runs none. */
  tickAge(): number | undefined;
  /**
   * Starts no more jobs, unlocks those that wait, and waits at most 15 s for running ones. Agenda's own
   * timers may hold the process for half a lock lifetime more: the caller ends it with `process.exit`.
   */
  stop(): Promise<void>;
}

interface Settings {
  /** Already connected; Agenda opens no connection of its own. */
  db: Db;
  logger: Pick<Logger, 'warn'>;
  /** How often to look for jobs, in milliseconds; within that time jobs start to the millisecond. */
  processEvery: number;
}

/** The part of Agenda's documents that is read here. */
interface StoredJob {
  _id: ObjectId;
  name: string;
  data: { key: string };
  nextRunAt: Date | null;
  lockedAt?: Date | null;
  lastModifiedBy?: string | null;
  lastRunAt?: Date | null;
  lastFinishedAt?: Date | null;
  failReason?: string | null;
}

const collection = 'jobs';

/** A lock that outlives its process must end well before the shortest retry delay does twice. */
export const lockLifetime = 60_000;
const longestWaitAtStop = 15_000;
const keepFinished = 24 * 3_600_000;

export const indexes: IndexDeclaration[] = [
  {
    collection,
    key: { name: 1, nextRunAt: 1, priority: -1, lockedAt: 1, disabled: 1 },
    name: 'findAndLockNextJobIndex',
  },
  { collection, key: { lastFinishedAt: 1 }, sparse: true },
];

/** The scheduler on Agenda, with its jobs in the collection `jobs` of `db`. */
export function createScheduler({ db, logger, processEvery }: Settings): Scheduler {
  const repository = new MongoJobRepository({ mongo: db, db: { collection }, ensureIndex: false });
  let lookedAt: number | undefined;
  const look = repository.getNextJobToRun.bind(repository);
  repository.getNextJobToRun = async (...args) => {
    const found = await look(...args);
    lookedAt = performance.now();
    return found;
  };
  const jobs: Collection<StoredJob> = db.collection(collection);
  const agenda = new Agenda({
    // The repository alone: Agenda's MongoDB backend would add collections and indexes for a log that we do not keep.
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

  let running = 0;
  let idle: (() => void) | undefined;
  agenda.on('error', (error) => logger.warn({ err: error }, 'the scheduler reported an error'));
  agenda.on('fail', (error, job) => logger.warn({ err: error, job: job.attrs.name }, 'a job failed'));
  agenda.on('start', () => {
    running += 1;
  });
  agenda.on('complete', () => {
    running -= 1;
    if (running === 0) idle?.();
  });

  async function beyond(id: string): Promise<Filter<StoredJob>> {
    const last = await jobs.findOne(byId(id));
    if (!last) throw new ApiError('not_found', { description: `The job ${id} has run; list from the start` });
    const { _id, nextRunAt } = last;
    const later = nextRunAt === null ? { $ne: null } : { $gt: nextRunAt };
    return { $or: [{ nextRunAt: later }, { nextRunAt, _id: { $gt: _id } }] };
  }

  return {
    define(name, handler) {
      // One parameter: to Agenda, a function of two is one that calls back, and it would never end.
      agenda.define<{ key: string }>(name, async (job) => handler(job.attrs.data.key));
    },

    async at(name, when, key) {
      // A job that a process has locked may have begun, or died with it: beside such a one, another is made.
      await agenda
        .create(name, { key })
        .unique({ 'data.key': key, lockedAt: null, nextRunAt: { $ne: null } }, { insertOnly: true })
        .schedule(when)
        .save();
    },

    async list({ name, limit, after }) {
      const found = await jobs
        .find({
          // Every job has a name: this one condition makes it a read of the index.
          name: name ?? { $gt: '' },
          ...(after === undefined ? {} : await beyond(after)),
        })
        .sort({ nextRunAt: 1, _id: 1 })
        .limit(limit)
        .toArray();
      return found.map(toJob);
    },

    async show(id) {
      const found = await jobs.findOne(byId(id));
      return found ? toJob(found) : undefined;
    },

    async move(id, when, key) {
      const waiting = { ...byId(id), lockedAt: null, nextRunAt: { $ne: null } };
      const { matchedCount } = await jobs.updateOne(waiting, {
        $set: { nextRunAt: when, 'data.key': key },
      });
      return matchedCount === 1;
    },

    async cancel(id) {
      const { deletedCount } = await jobs.deleteOne({ ...byId(id), lockedAt: null });
      return deletedCount === 1;
    },

    async sweep() {
      const finished = {
        nextRunAt: null,
        lockedAt: null,
        lastFinishedAt: { $lt: new Date(Date.now() - keepFinished) },
      };
      await jobs.deleteMany(finished);
    },

    async start() {
      lookedAt = performance.now();
      await agenda.start();
    },

    tickAge: () => (lookedAt === undefined ? undefined : (performance.now() - lookedAt) / 1000),

    async stop() {
      await agenda.stop(false);
      if (running === 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, longestWaitAtStop);
        idle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
}

/** Matches nothing where `id` is not one of Agenda's. */
function byId(id: string): Filter<StoredJob> {
  return { _id: /^[0-9a-f]{24}$/.test(id) ? ObjectId.createFromHexString(id) : new ObjectId() };
}

function toJob(stored: StoredJob): Job {
  return {
    id: stored._id.toHexString(),
    name: stored.name,
    nextRunAt: stored.nextRunAt ?? undefined,
    lockedAt: stored.lockedAt ?? undefined,
    // Agenda keeps the name of the last process in every job, also in one that waits.
    lockedBy: stored.lockedAt ? (stored.lastModifiedBy ?? undefined) : undefined,
    lastRunAt: stored.lastRunAt ?? undefined,
    failReason: stored.failReason ?? undefined,
    key: stored.data.key,
  };
}
