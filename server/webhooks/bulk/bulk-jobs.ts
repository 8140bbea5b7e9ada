import type {
  BulkFilter,
  BulkView,
  ListBulk,
  StartBulk,
  StartedBulk,
} from '../../../contracts/admin/bulk.ts';
import type { Clock } from '../../platform/clock.ts';
import { type Actor, auditEntry } from '../../platform/database/audit-entry.ts';
import { isDuplicateKey } from '../../platform/database/failures.ts';
import { ApiError } from '../../platform/errors.ts';
import { randomId, sha256 } from '../../platform/ids.ts';
import type { KeyCount } from '../operators/key-count-store.ts';
import { dueFrom } from '../operators/reschedule.ts';
import { type BulkJob, viewBulkJob } from './bulk-job.ts';
import type { BulkStore } from './bulk-store.ts';

interface Settings {
  store: BulkStore;
  clock: Pick<Clock, 'now'>;
  /** Has the first step of a job taken, in this process or another one. */
  announce: (bulkId: string) => Promise<void>;
}

/** Keys that one job may be about: its document holds a part for each. */
const mostKeys = 500;
/** Milliseconds after its start for which a job is kept. */
export const keptMs = 60 * 24 * 3_600_000;

/** What is to be done, and for how many. */
interface Counted extends StartBulk {
  counted: { keys: KeyCount[]; exact: boolean };
}

const sum = (keys: readonly KeyCount[]): number => keys.reduce((all, { total }) => all + total, 0);

/** The filter with both ends of its time span, in one form. */
function closed({ since, until, ...filter }: BulkFilter, now: number): BulkFilter {
  const time = (text: string | undefined, otherwise: number) =>
    new Date(text === undefined ? otherwise : Date.parse(text)).toISOString();
  return { ...filter, since: time(since, 0), until: time(until, now) };
}

const fingerprintOf = ({ action, filter, at }: StartBulk): string =>
  sha256(JSON.stringify([action, Object.entries(filter).sort(), at ?? null]));

export type BulkJobs = ReturnType<typeof createBulkJobs>;

/** Bulk jobs as operators start, see and cancel them. All methods throw ApiError. */
export function createBulkJobs({ store, clock, announce }: Settings) {
  const view = (job: BulkJob): BulkView => viewBulkJob(job, clock.now());

  function startedBy(job: BulkJob, repeated: boolean): StartedBulk {
    const live = sum(job.parts.filter(({ mode }) => mode === 'live'));
    const { total, exact, filter, parts } = job;
    return { dryRun: false, repeated, total, exact, live, keys: parts.length, filter, job: view(job) };
  }

  /** @throws ApiError conflict where another job has sent events of the time span again, which had arrived */
  async function refuseSecondReplay({ action, filter }: StartBulk, keys: readonly KeyCount[]): Promise<void> {
    if (action !== 'replay' && filter.status !== 'delivered') return;
    const other = await store.overlapping(
      action,
      filter,
      keys.map(({ keyId }) => keyId),
    );
    if (!other) return;
    const span = `${other.filter.since} to ${other.filter.until}`;
    const description = `Bulk job ${other._id} sends the events of ${span} again already; with --again they are sent once more`;
    throw new ApiError('conflict', { description });
  }

  async function insert(wanted: Counted, fingerprint: string, actor: Actor): Promise<BulkJob> {
    const now = new Date(clock.now());
    const { action, filter, rate, at, counted } = wanted;
    const total = sum(counted.keys);
    const id = randomId('bulkJob');
    const about = { action, filter, rate, ...(at === undefined ? {} : { at }) };
    const entry = auditEntry(
      actor,
      { id, at: now.getTime() },
      { after: { ...about, count: total, exact: counted.exact, keys: counted.keys.length } },
    );
    const job = {
      _id: id,
      ...{ action, filter, rate, ...(at === undefined ? {} : { at: new Date(at) }) },
      ...{ status: 'running' as const, total, exact: counted.exact },
      parts: counted.keys.map((key) => ({ ...key, done: 0, leftOut: 0, nextAt: now, finished: false })),
      ...{ nextAt: now, fingerprint },
      ...{ operatorId: actor.operatorId, operatorName: actor.operatorName },
      ...{ createdAt: now, purgeAt: new Date(now.getTime() + keptMs) },
    };
    const inserted = await store.insert(job, entry);
    await announce(id);
    return inserted;
  }

  return {
    /** Counts, and starts a job where it is no dry run. */
    async start(input: StartBulk, actor: Actor): Promise<StartedBulk> {
      const now = clock.now();
      const filter = closed(input.filter, now);
      const wanted = { ...input, filter };
      if (input.at !== undefined) dueFrom({ at: input.at }, new Date(now));
      // Of the filter as it was given: a call without an end is the same call a second later.
      const fingerprint = fingerprintOf(input.filter.until === undefined ? input : wanted);
      const running = input.dryRun ? undefined : await store.running(fingerprint);
      if (running) return startedBy(running, true);
      const counted = await store.count(input.action, filter);
      const { keys, exact } = counted;
      if (keys.length > mostKeys)
        throw new ApiError('refused', {
          description: `The filter finds deliveries of ${keys.length} API keys; a job takes ${mostKeys}: name a partner or a key`,
        });
      if (!input.again) await refuseSecondReplay(wanted, keys);
      const total = sum(keys);
      const live = sum(keys.filter(({ mode }) => mode === 'live'));
      const found = { total, exact, live, keys: keys.length, filter };
      if (input.dryRun || total === 0) return { dryRun: input.dryRun, repeated: false, ...found, job: null };
      try {
        return startedBy(await insert({ ...wanted, counted }, fingerprint, actor), false);
      } catch (error) {
        const other = isDuplicateKey(error) ? await store.running(fingerprint) : undefined;
        if (other) return startedBy(other, true);
        throw error;
      }
    },

    async list({ status, ...page }: ListBulk): Promise<BulkView[]> {
      return (await store.list(status ? { status } : {}, page)).map(view);
    },

    async show(id: string): Promise<BulkView> {
      const job = await store.find(id);
      if (!job) throw new ApiError('not_found', { description: `No bulk job ${id}` });
      return view(job);
    },

    /** Takes no more steps. What is due within a second is still sent. */
    async cancel(id: string, actor: Actor): Promise<BulkView> {
      const cancelled = await store.change(id, (job) => {
        if (job.status !== 'running') return undefined;
        const at = clock.now();
        const { done, leftOut } = view(job);
        const difference = { before: { status: job.status }, after: { status: 'cancelled', done, leftOut } };
        const gone = { nextAt: undefined, lease: undefined, fingerprint: undefined };
        return {
          set: { status: 'cancelled' as const, endedAt: new Date(at), ...gone },
          entry: auditEntry(actor, { id, at }, difference),
        };
      });
      if (cancelled.status === 'done')
        throw new ApiError('conflict', { description: `Bulk job ${id} has ended already` });
      return view(cancelled);
    },
  };
}
