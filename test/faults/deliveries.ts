import type { Db } from 'mongodb';
import type { AccessDocument } from './books.ts';
import type { Partner } from './partner.ts';
import type { Arrived } from './receiver.ts';

// The suite's own reading of what is owed, beside what its receiver has counted.

interface EventDocument {
  _id: string;
  type: string;
  body: string;
  sessionId: string;
  enrollmentId: string;
}

/** What a run of webhooks came to. All but `repeated` should be nothing. */
export interface WebhookFindings {
  /** How many were owed. */
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

/** What happened, each as what its one event must say: its type and whom it is about. */
async function owed(db: Db, { partnerId, walletId }: Partner): Promise<string[]> {
  const [sessions, enrollments, accesses] = await Promise.all([
    db.collection<{ _id: string }>('sessions').find({ partnerId, status: 'complete' }).toArray(),
    db.collection<{ _id: string }>('enrollments').find({ partnerId }).toArray(),
    db.collection<AccessDocument>('accesses').find({ walletId, state: 'live', returning: true }).toArray(),
  ]);
  return [
    ...sessions.map(({ _id }) => `verification.session.completed ${_id}`),
    ...enrollments.map(({ _id }) => `enrollment.created ${_id}`),
    ...accesses.map(({ sessionId }) => `vae.resolved ${sessionId}`),
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

/** Every POST has its row; and every row that tells of an answer, its POST. */
async function rowFaults(db: Db, { partnerId }: Partner, posts: number): Promise<string[]> {
  const deliveries = await db.collection<DeliveryDocument>('deliveries').find({ partnerId }).toArray();
  const rows = deliveries.flatMap(({ attempts }) => attempts);
  const answered = rows.filter(({ status }) => status !== undefined).length;
  return answered <= posts && posts <= rows.length
    ? []
    : [`${posts} POSTs for ${rows.length} rows, ${answered} of them with an answer`];
}

/** Whether nothing more is to be expected: everything owed has come, and no delivery is on its way. */
export async function isFinished(
  db: Db,
  partner: Partner,
  arrived: ReadonlyMap<string, Arrived>,
): Promise<boolean> {
  const [due, open] = await Promise.all([owed(db, partner), unfinished(db, partner)]);
  return open === 0 && arrived.size >= due.length;
}

/** Judges a run by what its receiver counted and what the database says. */
export async function judgeWebhooks(
  db: Db,
  partner: Partner,
  arrived: ReadonlyMap<string, Arrived>,
): Promise<WebhookFindings> {
  const posts = [...arrived.values()].reduce((sum, each) => sum + each.posts, 0);
  const [due, events, open, other] = await Promise.all([
    owed(db, partner),
    eventsOf(db, partner),
    unfinished(db, partner),
    rowFaults(db, partner, posts),
  ]);
  if (open > 0) other.push(`${open} deliveries did not come to their end`);
  const came = events.filter(({ _id }) => arrived.has(_id));
  const told = new Set(came.map(subjectOf));
  const altered = came.filter(({ _id, body }) => {
    const bodies = arrived.get(_id)?.bodies ?? new Set();
    return bodies.size !== 1 || !bodies.has(body);
  });
  const wanted = new Set(due);
  const unwanted = events.filter((event) => !wanted.has(subjectOf(event))).length;
  const unknown = [...arrived.keys()].filter((id) => !events.some(({ _id }) => _id === id)).length;
  return {
    events: due.length,
    lost: due.filter((subject) => !told.has(subject)).length,
    altered: altered.length,
    invented: unwanted + unknown + Math.max(0, events.length - due.length),
    other,
    repeated: [...arrived.values()].reduce((sum, { acknowledged }) => sum + acknowledged - 1, 0),
  };
}
