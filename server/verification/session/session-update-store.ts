import type { AnyBulkWriteOperation, UpdateFilter } from 'mongodb';
import type { Session } from './session.ts';
import type { Transition } from './transitions.ts';

const day = 86_400_000;
/** How long completed and failed sessions are kept after they expire. */
export const keepFinished = 30 * day;
/** How long unfinished sessions are kept: they cause no event, and no query finds them after 30 minutes (interface 3.1). */
export const keepUnfinished = day;

/** One transition of a batch. The nonce identifies it among all transitions of its session. */
export interface Move {
  session: Session;
  transition: Transition;
  now: Date;
  nonce: string;
}

function toUpdate({ transition, nonce }: Move): UpdateFilter<Session> {
  const { set, entry, earlier, carried, event, enrolled } = transition;
  const unset = {
    ...(event ? { purgeAt: '' as const } : {}),
    ...(carried === null ? { carried: '' as const } : {}),
    ...(enrolled ? { enrollmentDueAt: '' as const } : {}),
  };
  return {
    $set: { ...set, ...(carried ? { carried } : {}), ...(event ? { outboxAt: entry.at } : {}) },
    ...(Object.keys(unset).length > 0 ? { $unset: unset } : {}),
    $push: {
      timeline: { $each: [...(earlier ?? []), { ...entry, nonce }] },
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

/** Removes each mark only if it has not changed since it was read. */
export function toPublished({
  _id,
  outboxAt,
  enrollmentDueAt,
  expiresAt,
}: Session): AnyBulkWriteOperation<Session> {
  const marks = { ...(outboxAt ? { outboxAt } : {}), ...(enrollmentDueAt ? { enrollmentDueAt } : {}) };
  const emptied = { outbox: [], purgeAt: new Date(expiresAt.getTime() + keepFinished) };
  const gone = Object.fromEntries(Object.keys(marks).map((name) => [name, '' as const]));
  return {
    updateOne: {
      filter: { _id, ...marks },
      update: { ...(outboxAt ? { $set: emptied } : {}), $unset: gone },
    },
  };
}
