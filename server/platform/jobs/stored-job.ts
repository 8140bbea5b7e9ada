import type { ObjectId } from 'mongodb';
import { z } from 'zod';

/** A stored job. Its times are of the scheduler's own clock. */
export interface Job {
  id: string;
  name: string;
  /** Undefined while the job runs and after it has run. */
  nextRunAt: Date | undefined;
  lockedAt: Date | undefined;
  /** The process that has locked the job, if any. */
  lockedBy: string | undefined;
  lastRunAt: Date | undefined;
  failReason: string | undefined;
  key: string;
  /** The first malformed field, if any. Fields that cannot be read are then empty. */
  malformed?: string;
}

/** Times are shown in the format of RFC 3339, which has years of four digits. So another year counts as malformed. */
const time = z
  .date()
  .min(new Date('0000-01-01T00:00:00Z'))
  .max(new Date('9999-12-31T23:59:59.999Z'))
  .nullish();
const text = z.string().nullish();
/** The fields of Agenda's documents that are read here. */
const Stored = z.object({
  name: z.string(),
  data: z.object({ key: z.string() }),
  nextRunAt: time,
  lockedAt: time,
  lastModifiedBy: text,
  lastRunAt: time,
  failReason: text,
});
const Readable = Stored.partial();

/** Reads a job from a document of Agenda's collection. Never throws, because another program may have written it. */
export function readJob(document: { _id: ObjectId }): Job {
  const { issues: faults } = Stored.safeParse(document).error ?? { issues: [] };
  const isReadable = (field: string) => faults.every(({ path }) => path[0] !== field);
  const readable = Object.entries(document).filter(([field]) => isReadable(field));
  const { name, data, nextRunAt, lockedAt, lastModifiedBy, lastRunAt, failReason } = Readable.parse(
    Object.fromEntries(readable),
  );
  return {
    id: String(document._id),
    name: name ?? '',
    nextRunAt: nextRunAt ?? undefined,
    lockedAt: lockedAt ?? undefined,
    // Agenda stores the name of the last process in every job, even in waiting ones.
    lockedBy: lockedAt ? (lastModifiedBy ?? undefined) : undefined,
    lastRunAt: lastRunAt ?? undefined,
    failReason: failReason ?? undefined,
    key: data?.key ?? '',
    ...(faults[0] && { malformed: faults[0].path.join('.') }),
  };
}
