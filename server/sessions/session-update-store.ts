import type { AnyBulkWriteOperation, UpdateFilter } from 'mongodb';
import { retentionMs } from '../../contracts/retention.ts';
import { givenFields } from '../platform/database/reads/look-through.ts';
import type { Session } from './session.ts';
import type { Transition } from './transitions.ts';

const day = 86_400_000;
/** How long completed and failed sessions are kept after they expire. */
export const keepFinished = retentionMs.session;
/** How long other sessions are kept after they expire. They have caused no event, and the API no longer shows them. */
export const keepUnfinished = day;

/** The value of a field in `$unset`. MongoDB ignores it. */
const removed = '' as const;

/** One transition of a batch. The nonce identifies it among all transitions of its session. */
export interface Move {
  session: Session;
  transition: Transition;
  now: Date;
  nonce: string;
}

/** Writes a transition as an update of the database. `applied` does the same to a session in memory. */
function toUpdate({ transition, nonce }: Move): UpdateFilter<Session> {
  const { set, entry, earlier = [], carried, event, isEnrollmentDone } = transition;
  const $unset = givenFields({
    // A session is deleted only after its events are published.
    purgeAt: event && removed,
    carried: carried === null ? removed : undefined,
    enrollmentDueAt: isEnrollmentDone ? removed : undefined,
  });
  return {
    $set: { ...set, ...givenFields({ carried: carried ?? undefined, outboxAt: event && entry.at }) },
    ...(Object.keys($unset).length > 0 ? { $unset } : {}),
    $push: {
      timeline: { $each: [...earlier, { ...entry, nonce }] },
      ...(event ? { outbox: event } : {}),
    },
  };
}

/** Matches the session only as it was read, because every transition makes the timeline longer. */
export function toStatement(move: Move): AnyBulkWriteOperation<Session> {
  const { _id, timeline } = move.session;
  const filter = { _id, timeline: { $size: timeline.length }, expiresAt: { $gt: move.now } };
  return { updateOne: { filter, update: toUpdate(move) } };
}

/**
 * Removes the marks of work that is finished: `outboxAt` and `enrollmentDueAt`. A mark that has changed since the
 * session was read stands for newer work, so then nothing is removed. Without events, the session can be deleted.
 */
export function toPublished({
  _id,
  outboxAt,
  enrollmentDueAt,
  expiresAt,
}: Session): AnyBulkWriteOperation<Session> {
  const marks = givenFields({ outboxAt, enrollmentDueAt });
  const emptied = { outbox: [], purgeAt: new Date(expiresAt.getTime() + keepFinished) };
  const $unset = Object.fromEntries(Object.keys(marks).map((name) => [name, removed]));
  return {
    updateOne: {
      filter: { _id, ...marks },
      update: { ...(outboxAt ? { $set: emptied } : {}), $unset },
    },
  };
}
