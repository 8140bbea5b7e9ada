import type { BulkAction, BulkFilter, BulkPart, BulkView } from '../../../contracts/admin/bulk.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { AuditedRecord } from '../../platform/database/records.ts';

/** What a job has to do for one API key, and how far it is. Works through the key's documents, oldest first. */
export interface Part {
  keyId: string;
  partnerId: string;
  mode: Mode;
  /** As counted at the start. */
  total: number;
  done: number;
  /** What the filter found, and had arrived or ended by another way. */
  leftOut: number;
  /** The last document that was looked at. */
  after?: { createdAt: Date; _id: string };
  /** No process works on it before. */
  nextAt: Date;
  finished: boolean;
  /** As much as two seconds take is due at the endpoint, and not sent. */
  isBehind?: boolean;
}

/** Work on many deliveries, as a document: any process takes the next step. It holds no data of users. */
export interface BulkJob extends AuditedRecord {
  action: BulkAction;
  /** With both ends of the time span. */
  filter: BulkFilter;
  /** Deliveries of one key in a second. */
  rate: number;
  /** Of a reschedule: when the first attempt is due. */
  at?: Date;
  status: 'running' | 'done' | 'cancelled';
  total: number;
  exact: boolean;
  parts: Part[];
  /** Only while it runs: when a process takes the next step. A step under way moves it to the end of its lease. */
  nextAt?: Date;
  /** Only during a step: which process may write its result. */
  lease?: string;
  /** Only while it runs: the same call again finds this job. */
  fingerprint?: string;
  operatorId: string;
  operatorName: string;
  endedAt?: Date;
  purgeAt: Date;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** The index of the unfinished part whose turn it is; -1 where all are finished. */
export function nextPart(parts: readonly Part[]): number {
  let next = -1;
  parts.forEach(({ finished, nextAt }, at) => {
    if (!finished && (next < 0 || nextAt < (parts[next]?.nextAt ?? nextAt))) next = at;
  });
  return next;
}

function viewPart({ after: _after, nextAt: _nextAt, isBehind, ...part }: Part): BulkPart {
  return { ...part, waits: isBehind && !part.finished ? 'endpoint_behind' : null };
}

/** When the job ends at its rate, from `now` on. */
function expectedEnd({ parts, rate, status }: BulkJob, now: number): Date | undefined {
  if (status !== 'running') return undefined;
  const left = parts.filter(({ finished }) => !finished).map((one) => one.total - one.done);
  return new Date(now + (Math.max(0, ...left) / rate) * 1000);
}

/** A job as operators see it. @param now milliseconds since the epoch */
export function viewBulkJob(job: BulkJob, now: number): BulkView {
  const { _id: id, action, status, total, exact, rate, filter, operatorId, operatorName, parts } = job;
  return {
    id,
    action,
    status,
    total,
    exact,
    done: sum(parts.map(({ done }) => done)),
    leftOut: sum(parts.map(({ leftOut }) => leftOut)),
    rate,
    filter,
    at: job.at?.toISOString() ?? null,
    expectedEndAt: expectedEnd(job, now)?.toISOString() ?? null,
    operatorId,
    operatorName,
    createdAt: job.createdAt.toISOString(),
    endedAt: job.endedAt?.toISOString() ?? null,
    keys: parts.map(viewPart),
  };
}
