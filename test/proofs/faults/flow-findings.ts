import type { Db } from 'mongodb';
import { type Entry, isCharge } from './ledger-snapshot.ts';
import type { Partner } from './partner.ts';

// Reads the results of hosted flows as plain documents, without the product's rules.

interface SessionDocument {
  _id: string;
  partnerId: string;
  status: string;
  userId?: string;
  enrollmentId?: string;
  returning?: boolean;
  code?: { hash: string };
  timeline: { event: string }[];
  outboxAt?: Date;
  enrollmentDueAt?: Date;
}

interface EnrollmentDocument {
  _id: string;
  partnerId: string;
  userId: string;
  firstSession: string;
  consentedClaims: string[];
  outboxAt?: Date;
}

interface UserDocument {
  _id: string;
  claims: Record<string, { value: unknown }>;
  createdAt: Date;
}

/** The records of all flows of one partner. */
interface Left {
  sessions: SessionDocument[];
  enrollments: EnrollmentDocument[];
  /** Users of the enrollments and sessions, and, if the start time is known, all users created since then. */
  users: UserDocument[];
  charges: Entry[];
}

/** The number of completed flows, and of different users in them. */
export interface Passed {
  /** The start time of the run. Undefined if other users may be created during the run. */
  since?: Date;
  flows: number;
  people: number;
}

const steps = ['started', 'consented', 'authenticated', 'verified', 'completed'];

async function readLeft(db: Db, { partnerId, walletId }: Partner, since?: Date): Promise<Left> {
  const [sessions, enrollments, pages] = await Promise.all([
    db.collection<SessionDocument>('sessions').find({ partnerId }).toArray(),
    db.collection<EnrollmentDocument>('enrollments').find({ partnerId }).toArray(),
    db.collection<{ entries: Entry[] }>('ledger').find({ walletId }).toArray(),
  ]);
  const named = [...sessions, ...enrollments].flatMap(({ userId }) => userId ?? []);
  const users = await db
    .collection<UserDocument>('users')
    .find({ $or: [{ _id: { $in: named } }, ...(since ? [{ createdAt: { $gte: since } }] : [])] })
    .toArray();
  return { sessions, enrollments, users, charges: pages.flatMap(({ entries }) => entries).filter(isCharge) };
}

const isComplete = ({ status }: SessionDocument): boolean => status === 'complete';

/** Returns whether no work is left to a sweep. */
export async function isSettled(db: Db, { partnerId }: Partner): Promise<boolean> {
  const due = { $or: [{ outboxAt: { $exists: true } }, { enrollmentDueAt: { $exists: true } }] };
  const [sessions, enrollments] = await Promise.all(
    ['sessions', 'enrollments'].map((name) => db.collection(name).countDocuments({ partnerId, ...due })),
  );
  return sessions === 0 && enrollments === 0;
}

/** Counts duplicates of records that must be unique. */
function countDuplicates({ sessions, enrollments, charges }: Left, { flows, people }: Passed): number {
  const repeated = sessions.flatMap(({ timeline }) =>
    steps.filter((step) => timeline.filter(({ event }) => event === step).length > 1),
  );
  const over = (found: number, due: number) => Math.max(0, found - due);
  return (
    repeated.length +
    over(sessions.filter(isComplete).length, flows) +
    over(enrollments.length, people) +
    over(charges.length, flows)
  );
}

/** Counts references to missing records, and users without an enrollment. */
function countOrphans({ sessions, enrollments, users }: Left): number {
  const userIds = new Set(users.map(({ _id }) => _id));
  const enrollmentIds = new Set(enrollments.map(({ _id }) => _id));
  const completeIds = new Set(sessions.filter(isComplete).map(({ _id }) => _id));
  const enrolled = new Set(enrollments.map(({ userId }) => userId));
  return [
    sessions
      .filter(isComplete)
      .filter(
        ({ userId, enrollmentId }) => !userIds.has(userId ?? '') || !enrollmentIds.has(enrollmentId ?? ''),
      ),
    enrollments.filter(({ userId, firstSession }) => !userIds.has(userId) || !completeIds.has(firstSession)),
    users.filter(({ _id }) => !enrolled.has(_id)),
  ].flat().length;
}

/** Describes the records that completed flows should have left, but that are missing. */
function describeMissing({ sessions, enrollments, users }: Left, { flows, people }: Passed): string[] {
  const complete = sessions.filter(isComplete);
  const firsts = enrollments.filter(({ _id, firstSession }) => {
    const first = complete.filter((each) => each.enrollmentId === _id && each.returning !== true);
    return first.length !== 1 || first[0]?._id !== firstSession;
  });
  const gaps = complete.filter(({ timeline }) =>
    steps.some((step) => !timeline.some(({ event }) => event === step)),
  );
  const wrong: [number, string][] = [
    [flows - complete.length, 'completed sessions are missing'],
    [people - enrollments.length, 'enrollments are missing'],
    [firsts.length, 'enrollments have not one first session'],
    [gaps.length, 'completed sessions lack a step'],
    [users.filter(({ claims }) => claims['age_18_plus']?.value !== true).length, 'users lack their claims'],
    [
      enrollments.filter(({ consentedClaims }) => !consentedClaims.includes('age_18_plus')).length,
      'enrollments lack their consent',
    ],
    [
      new Set(complete.map(({ code }) => code?.hash)).size - complete.length,
      'codes of sessions are the same',
    ],
  ];
  return wrong.flatMap(([count, words]) => (count === 0 ? [] : [`${count} ${words}`]));
}

export async function checkFlows(db: Db, partner: Partner, passed: Passed) {
  const left = await readLeft(db, partner, passed.since);
  return {
    doubled: countDuplicates(left, passed),
    orphans: countOrphans(left),
    other: describeMissing(left, passed),
  };
}

/** Returns the id of the session that issued a code. */
export async function sessionOfCode(db: Db, codeHash: string): Promise<string | undefined> {
  const sessions = db.collection<SessionDocument>('sessions');
  return (await sessions.findOne({ 'code.hash': codeHash }))?._id;
}
