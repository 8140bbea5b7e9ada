import { randomBytes } from 'node:crypto';
import type { Db } from 'mongodb';
import type { Enrollment } from '../../../server/people/enrollments/enrollment-store.ts';
import type { User } from '../../../server/people/users/user-store.ts';
import { randomId, sha256 } from '../../../server/platform/ids.ts';
import { codeOf } from '../../../server/sessions/code.ts';
import type { Session } from '../../../server/sessions/session.ts';
import { completed } from '../../../server/sessions/transitions.ts';
import { type Partner, redirectUri } from './partner.ts';

/** An authorization code that can be exchanged. */
export interface Code {
  code: string;
  codeVerifier: string;
  sessionId: string;
  /** Whether its exchange causes the event `vae.resolved`, as for a returning user. */
  returning: boolean;
}

/** The age in milliseconds from which the sweep handles changes of another process. */
const overdue = 10_000;
const lifetime = 1_800_000;

function enrollmentOf(partner: Partner, userId: string, firstSession: string, at: Date): Enrollment {
  const { partnerId, clientId, keyId } = partner;
  const _id = randomId('enrollment');
  const sub = sha256(`${partnerId}|${userId}`);
  const owner = { partnerId, clientId, keyId, mode: 'test' as const, userId, sub, firstSession };
  const state = { status: 'active' as const, consentedClaims: ['age_18_plus' as const], audit: [] };
  return { _id, ...owner, ...state, createdAt: at };
}

/** Creates the session that a completed hosted flow leaves, by the product's own transition. */
function sessionOf(
  enrollment: Enrollment,
  { codeVerifier, code, sessionId, returning }: Code,
  unpublished: boolean,
): Session {
  const { partnerId, clientId, keyId, mode, userId, sub, _id: enrollmentId, createdAt } = enrollment;
  const session: Session = {
    _id: sessionId,
    ...{ partnerId, clientId, keyId, mode, userId, sub, enrollmentId, returning, redirectUri },
    source: 'sandbox',
    state: 'a-state-of-16-or-more',
    scope: ['age_18_plus'],
    codeChallenge: sha256(codeVerifier),
    status: 'verified',
    browserHash: '',
    timeline: [],
    outbox: [],
    authenticatedAt: createdAt,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + lifetime),
  };
  // One exchange reads only the session; the other also reads the user and the enrollment.
  const snapshot = returning ? { claims: { age_18_plus: true } } : undefined;
  const issue = {
    code: { hash: sha256(code), keyId: 'none' },
    snapshot,
    returning,
    isEnrollmentDone: !unpublished,
  };
  const { set, entry, event } = completed(session, issue, createdAt);
  const outbox = unpublished && event ? { outbox: [event], outboxAt: createdAt } : { outbox: [] };
  return { ...session, ...set, timeline: [entry], ...outbox };
}

/**
 * Creates codes of different users, with the records of completed hosted flows. Every second user is a returning one.
 * @param unpublished whether the next sweep must publish the events of their sessions and enrollments
 */
export async function createCodes(
  db: Db,
  partner: Partner,
  { count, unpublished = false }: { count: number; unpublished?: boolean },
): Promise<Code[]> {
  const at = new Date(Date.now() - overdue);
  const people = Array.from({ length: count }, (_, index) => {
    const sessionId = randomId('session');
    const code: Code = {
      code: codeOf(randomBytes(32), sessionId),
      codeVerifier: randomBytes(32).toString('base64url'),
      sessionId,
      returning: index % 2 === 0,
    };
    const user: User = {
      _id: randomId('user'),
      mode: 'test',
      identity: randomId('user'),
      claims: { age_18_plus: { value: true, evaluatedAt: at } },
      createdAt: at,
    };
    const enrollment = enrollmentOf(partner, user._id, code.sessionId, at);
    return { code, user, enrollment, session: sessionOf(enrollment, code, unpublished) };
  });
  await Promise.all([
    db.collection<User>('users').insertMany(people.map(({ user }) => user)),
    db.collection<Enrollment>('enrollments').insertMany(people.map(({ enrollment }) => enrollment)),
    db.collection<Session>('sessions').insertMany(people.map(({ session }) => session)),
  ]);
  return people.map(({ code }) => code);
}
