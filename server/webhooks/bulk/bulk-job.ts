import type { BulkAction, BulkFilter, BulkPart, BulkView } from '../../../contracts/admin/bulk.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { AuditedRecord } from '../../platform/database/records.ts';

/** A bulk job's work and progress for one API key. The key's documents are processed oldest first. */
export interface Part {
  keyId: string;
  partnerId: string;
  mode: Mode;
  /** The number of documents, as counted at the start. */
  total: number;
  done: number;
  /** Documents that the filter found, but that were delivered or had ended otherwise. */
  leftOut: number;
  /** The last document that was processed. */
  after?: { createdAt: Date; _id: string };
  /** When the next step of this part is due. */
  nextAt: Date;
  finished: boolean;
  /** Whether the part waits, because the endpoint has as many unsent deliveries as two seconds of this job. */
  isBehind?: boolean;
}

/** Work on many deliveries, stored as a document. Any process can take the next step. It contains no data of users. */
export interface BulkJob extends AuditedRecord {
  action: BulkAction;
  /** The filter, with both ends of its time span. */
  filter: BulkFilter;
  /** Deliveries a second for each key. */
  rate: number;
  /** For a reschedule: when the first attempt is due. */
  at?: Date;
  status: 'running' | 'done' | 'cancelled';
  total: number;
  exact: boolean;
  parts: Part[];
  /** Only while the job runs: when the next step is due. During a step, this is the end of the step's lease. */
  nextAt?: Date;
  /** Only during a step: the token of the process that may write its result. */
  lease?: string;
  /** Only while the job runs: identifies the call, so that a repeated call finds this job. */
  fingerprint?: string;
  operatorId: string;
  operatorName: string;
  endedAt?: Date;
  purgeAt: Date;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** The index of the unfinished part that is due first; -1 if all parts are finished. */
export function nextPart(parts: readonly Part[]): number {
  let next = -1;
  parts.forEach(({ finished, nextAt }, index) => {
    if (!finished && (next < 0 || nextAt < (parts[next]?.nextAt ?? nextAt))) next = index;
  });
  return next;
}

function viewPart({ after: _after, nextAt: _nextAt, isBehind, ...part }: Part): BulkPart {
  return { ...part, waits: isBehind && !part.finished ? 'endpoint_behind' : null };
}

/** When the job will end at its rate, as of `now`. */
function expectedEnd({ parts, rate, status }: BulkJob, now: number): Date | undefined {
  if (status !== 'running') return undefined;
  const left = parts.filter(({ finished }) => !finished).map(({ total, done }) => total - done);
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
