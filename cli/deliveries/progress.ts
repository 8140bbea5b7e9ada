import type { BulkView } from '../../contracts/admin/bulk.ts';

export interface Progress {
  show(job: BulkView): void;
  /** Writes the last state of the job, and ends the line. */
  end(job: BulkView): void;
}

const clearLine = '\r\u001b[K';
const barWidth = 30;
/** The time between two lines if the stream is not a terminal, in milliseconds. */
const lineEveryMs = 10_000;

/** Describes the progress, such as `[#####-----] 250 of 500, 3 left out, about 25 s left`. */
export function describeProgress(job: BulkView, now: number): string {
  const { done, leftOut, total } = job;
  const share = total > 0 ? Math.min(1, done / total) : 1;
  const filled = Math.round(share * barWidth);
  const bar = `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}]`;
  const parts = [`${bar} ${done} of ${job.exact ? '' : 'at most '}${total}`];
  if (leftOut > 0) parts.push(`${leftOut} left out`);
  return [...parts, describeState(job, now)].join(', ');
}

function describeState({ status, expectedEndAt, keys }: BulkView, now: number): string {
  const waitingKey = keys.find(({ waits }) => waits !== null);
  // While an endpoint does not keep up, the expected end is too early, so it is not shown.
  if (waitingKey) return `waits for the endpoint of ${waitingKey.keyId}`;
  // A job that has ended has no expected end.
  if (status !== 'running' || expectedEndAt === null) return status;
  const secondsLeft = Math.ceil((Date.parse(expectedEndAt) - now) / 1000);
  return `about ${Math.max(0, secondsLeft)} s left`;
}

/** Shows the progress as a bar on a terminal, and as a line every ten seconds elsewhere. */
export function createProgress(
  stream: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>,
  now: () => number = Date.now,
): Progress {
  const isBar = stream.isTTY === true && process.env['TERM'] !== 'dumb';
  let lastLineAt = Number.NEGATIVE_INFINITY;
  return {
    show(job) {
      if (isBar) stream.write(`${clearLine}${describeProgress(job, now())}`);
      else if (job.status === 'running' && now() - lastLineAt >= lineEveryMs) {
        lastLineAt = now();
        stream.write(`${describeProgress(job, now())}\n`);
      }
    },
    end(job) {
      stream.write(`${isBar ? clearLine : ''}${describeProgress(job, now())}\n`);
    },
  };
}
