import type { Db } from 'mongodb';
import { type Entry, isCharge } from './ledger-snapshot.ts';
import type { Partner } from './partner.ts';
import type { Arrived } from './receiver.ts';

// The suite's own reading of the events that are due, compared with what its receiver has counted.

interface EventDocument {
  _id: string;
  type: string;
  body: string;
  sessionId: string;
  enrollmentId: string;
}

/** What a run of webhooks came to. All but `events` and `repeated` should be 0. */
export interface WebhookFindings {
  /** How many were due. */
  events: number;
  lost: number;
  /** Events that came with other bytes than those written. */
  altered: number;
  /** Events of nothing that has happened, or a second event of the same. */
  invented: number;
  other: string[];
  /** POSTs of an event after one that was answered with 2xx. */
  repeated: number;
}

/** The events that are due, each by its type and the id of what it is about. */
async function dueEvents(db: Db, { partnerId, walletId }: Partner): Promise<string[]> {
  const [sessions, enrollments, pages] = await Promise.all([
    db.collection<{ _id: string }>('sessions').find({ partnerId, status: 'complete' }).toArray(),
    db.collection<{ _id: string }>('enrollments').find({ partnerId }).toArray(),
    db.collection<{ entries: Entry[] }>('ledger').find({ walletId }).toArray(),
  ]);
  const entries = pages.flatMap((page) => page.entries);
  const returning = entries.flatMap((entry) =>
    isCharge(entry) && entry.grant?.returning ? entry.grant : [],
  );
  return [
    ...sessions.map(({ _id }) => `verification.session.completed ${_id}`),
    ...enrollments.map(({ _id }) => `enrollment.created ${_id}`),
    ...returning.map(({ sessionId }) => `vae.resolved ${sessionId}`),
  ];
}

const subjectOf = ({ type, sessionId, enrollmentId }: EventDocument): string =>
  `${type} ${type === 'enrollment.created' ? enrollmentId : sessionId}`;

const eventsOf = (db: Db, { partnerId }: Partner): Promise<EventDocument[]> =>
  db.collection<EventDocument>('events').find({ partnerId }).toArray();

const unfinished = (db: Db, { partnerId }: Partner): Promise<number> =>
  db.collection('deliveries').countDocuments({ partnerId, status: { $ne: 'delivered' } });

interface DeliveryDocument {
  partnerId: string;
  attempts: { status?: number }[];
}

/** Every POST has its attempt, and every attempt with an answer its POST. */
async function attemptFaults(db: Db, { partnerId }: Partner, posts: number): Promise<string[]> {
  const deliveries = await db.collection<DeliveryDocument>('deliveries').find({ partnerId }).toArray();
  const attempts = deliveries.flatMap((delivery) => delivery.attempts);
  const answered = attempts.filter(({ status }) => status !== undefined).length;
  return answered <= posts && posts <= attempts.length
    ? []
    : [`${posts} POSTs for ${attempts.length} attempts, ${answered} of them with an answer`];
}

/** Whether all due events have arrived and no delivery is under way. */
export async function isFinished(
  db: Db,
  partner: Partner,
  arrived: ReadonlyMap<string, Arrived>,
): Promise<boolean> {
  const [due, open] = await Promise.all([dueEvents(db, partner), unfinished(db, partner)]);
  return open === 0 && arrived.size >= due.length;
}

/** Judges a run by what its receiver counted and what the database says. */
export async function checkWebhooks(
  db: Db,
  partner: Partner,
  arrived: ReadonlyMap<string, Arrived>,
): Promise<WebhookFindings> {
  const posts = [...arrived.values()].reduce((sum, each) => sum + each.posts, 0);
  const [due, events, open, other] = await Promise.all([
    dueEvents(db, partner),
    eventsOf(db, partner),
    unfinished(db, partner),
    attemptFaults(db, partner, posts),
  ]);
  if (open > 0) other.push(`${open} deliveries did not come to their end`);
  const came = events.filter(({ _id }) => arrived.has(_id));
  const arrivedSubjects = new Set(came.map(subjectOf));
  const altered = came.filter(({ _id, body }) => {
    const bodies = arrived.get(_id)?.bodies ?? new Set();
    return bodies.size !== 1 || !bodies.has(body);
  });
  const wanted = new Set(due);
  const unwanted = events.filter((event) => !wanted.has(subjectOf(event))).length;
  const unknown = [...arrived.keys()].filter((id) => !events.some(({ _id }) => _id === id)).length;
  return {
    events: due.length,
    lost: due.filter((subject) => !arrivedSubjects.has(subject)).length,
    altered: altered.length,
    invented: unwanted + unknown + Math.max(0, events.length - due.length),
    other,
    repeated: [...arrived.values()].reduce((sum, { acknowledged }) => sum + acknowledged - 1, 0),
  };
}
