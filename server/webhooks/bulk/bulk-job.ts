import { type BulkAction, type BulkFilter, type BulkPart, BulkView } from '../../../contracts/admin/bulk.ts';
import { viewAs } from '../../platform/admin-api/view.ts';
import type { AuditedRecord } from '../../platform/database/records.ts';
import type { KeyOwner } from '../operators/endpoints/key-owner.ts';

/** A filter whose period has both ends, so that documents that are made during the job are not part of it. */
export type ClosedFilter = BulkFilter & { since: string; until: string };

/** The number of documents of an API key that a filter matches. */
export interface KeyCount extends KeyOwner {
  total: number;
}

/**
 * A bulk job's work and progress for one API key. `total` was counted at the start, and is raised if more is found later. The
 * oldest document is processed first.
 */
export interface Part extends KeyCount {
  done: number;
  /** Documents of the total that the job did not process, for instance because they were delivered meanwhile. */
  leftOut: number;
  /** The last document that was processed. */
  after?: { createdAt: Date; _id: string };
  nextAt: Date;
  finished: boolean;
  /** Whether the part waits, because the endpoint has at least as many unsent deliveries as the job makes in two seconds. */
  isBehind?: boolean;
}

/** Work on many deliveries, stored as a document. Any process can take the next step. It contains no data of users. */
export interface BulkJob extends AuditedRecord {
  action: BulkAction;
  filter: ClosedFilter;
  /** The most deliveries per second and API key, over all jobs of the key. Fewer are made while the endpoint is behind. */
  rate: number;
  /** For a reschedule: when the first attempt is due. */
  at?: Date;
  /** The URL that the events go to instead of the webhook URL of the key. */
  to?: string;
  status: 'running' | 'done' | 'cancelled';
  /** The number of documents, as counted at the start. It is an upper bound if `exact` is false. */
  total: number;
  exact: boolean;
  parts: Part[];
  /**
   * Only while the job runs: when the next step is due. During a step, this is the end of the step's lease. Each change of the
   * progress also changes this time, so a process that finds another time has lost its lease.
   */
  nextAt?: Date;
  /** Only while the job runs: identifies the call, so that a repeated call finds this job. */
  fingerprint?: string;
  operatorId: string;
  operatorName: string;
  endedAt?: Date;
  purgeAt: Date;
}

export const sum = (numbers: readonly number[]): number =>
  numbers.reduce((total, number) => total + number, 0);

/** The unfinished part that is due first; undefined if all parts are finished. */
export const nextPart = (parts: readonly Part[]): Part | undefined =>
  parts
    .filter(({ finished }) => !finished)
    .toSorted((one, other) => one.nextAt.getTime() - other.nextAt.getTime())
    .at(0);

function viewPart({ after: _after, nextAt: _nextAt, isBehind, ...part }: Part): BulkPart {
  return { ...part, waits: isBehind && !part.finished ? 'endpoint_behind' : null };
}

/** A job as operators see it. @param now milliseconds since the epoch */
export function viewBulkJob(job: BulkJob, now: number): BulkView {
  const { parts, rate, status } = job;
  // The keys are processed side by side, so the key with the most left ends last.
  const mostLeft = Math.max(0, ...parts.map(({ finished, total, done }) => (finished ? 0 : total - done)));
  return viewAs(BulkView, {
    ...job,
    id: job._id,
    total: sum(parts.map(({ total }) => total)),
    done: sum(parts.map(({ done }) => done)),
    leftOut: sum(parts.map(({ leftOut }) => leftOut)),
    expectedEndAt: status === 'running' ? new Date(now + (mostLeft / rate) * 1000) : undefined,
    keys: parts.map(viewPart),
  });
}
