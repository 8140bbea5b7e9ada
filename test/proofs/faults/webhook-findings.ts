import type { Db } from 'mongodb';
import { type Entry, isCharge } from './ledger-snapshot.ts';
import type { Partner } from './partner.ts';
import type { Arrived } from './receiver.ts';

// Compares the due events, read without the product's rules, with the receiver's counts.

interface EventDocument {
  _id: string;
  type: string;
  body: string;
  sessionId: string;
  enrollmentId: string;
}

/** The result of a run of webhooks. All numbers except `events` and `repeated` should be 0. */
export interface WebhookFindings {
  /** The number of due events. */
  events: number;
  lost: number;
  /** The number of events that arrived with other bytes than the stored ones. */
  altered: number;
  /** The number of events without a cause, and of second events of the same cause. */
  invented: number;
  other: string[];
  /** The number of repeated POSTs of an event after a 2xx. */
  repeated: number;
}

/** Returns the due events, each by its type and the id of its subject. */
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

/** Checks that every POST has an attempt, and every answered attempt a POST. */
async function attemptFaults(db: Db, { partnerId }: Partner, posts: number): Promise<string[]> {
  const deliveries = await db.collection<DeliveryDocument>('deliveries').find({ partnerId }).toArray();
  const attempts = deliveries.flatMap((delivery) => delivery.attempts);
  const answered = attempts.filter(({ status }) => status !== undefined).length;
  return answered <= posts && posts <= attempts.length
    ? []
    : [`${posts} POSTs for ${attempts.length} attempts, ${answered} of them with an answer`];
}

/** Returns whether all due events have arrived and no delivery is running. */
export async function isFinished(
  db: Db,
  partner: Partner,
  arrived: ReadonlyMap<string, Arrived>,
): Promise<boolean> {
  const [due, open] = await Promise.all([dueEvents(db, partner), unfinished(db, partner)]);
  return open === 0 && arrived.size >= due.length;
}

/** Checks a run by the receiver's counts and the database. */
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
