import { randomBytes } from 'node:crypto';
import type { Db } from 'mongodb';
import type { Enrollment } from '../../server/people/enrollments/enrollment-store.ts';
import type { User } from '../../server/people/users/user-store.ts';
import { randomId, sha256 } from '../../server/platform/ids.ts';
import { codeOf } from '../../server/sessions/code.ts';
import type { Session } from '../../server/sessions/session.ts';
import { codeChallenge, redirectUri, scope } from './contender.ts';
import type { Owner } from './our-partners.ts';

interface Visit {
  code: string;
  user: User;
  enrollment: Enrollment;
  session: Session;
}

const hour = 3_600_000;
const month = 30 * 24 * hour;

interface Visitors {
  count: number;
  owners: readonly Owner[];
  /** Whether they are returning users, whose exchanges cause the event `vae.resolved`. */
  returning?: boolean;
  /** Whether the sessions asked for an ID token. */
  openid?: boolean;
}

/** The records of the hosted flow for a user of `owner`, up to the code in the redirect. */
function visitOf({ partnerId, keyId, clientId }: Owner, at: Date, returning: boolean): Visit {
  const userId = randomId('user');
  const sessionId = randomId('session');
  const code = codeOf(randomBytes(32), sessionId);
  const enrollmentId = randomId('enrollment');
  const sub = randomBytes(32).toString('base64url');
  const common = { partnerId, keyId, clientId, mode: 'test' as const, createdAt: at };
  const known = { value: true, evaluatedAt: at };
  const names = ['age_18_plus', 'identity_verified'] as const;
  const expiresAt = new Date(at.getTime() + hour);
  return {
    code,
    user: {
      _id: userId,
      mode: 'test',
      identity: randomBytes(32).toString('base64url'),
      claims: { age_18_plus: known, identity_verified: known },
      createdAt: at,
    },
    enrollment: {
      ...common,
      _id: enrollmentId,
      userId,
      sub,
      status: 'active',
      consentedClaims: [...names],
      firstSession: sessionId,
      audit: [],
    },
    session: {
      ...common,
      _id: sessionId,
      source: 'sandbox',
      redirectUri,
      state: 'bench',
      scope: scope.split(' '),
      codeChallenge,
      status: 'complete',
      browserHash: sha256(sessionId),
      consentedAt: at,
      userId,
      sub,
      enrollmentId,
      returning,
      code: { hash: sha256(code), keyId: 'code-1', issuedAt: at, expiresAt, wrongVerifiers: 0 },
      snapshot: { claims: { age_18_plus: true, identity_verified: true }, until: expiresAt },
      timeline: (['started', 'consented', 'authenticated', 'verified', 'completed'] as const).map(
        (event) => ({
          at,
          event,
        }),
      ),
      outbox: [],
      completedAt: at,
      expiresAt,
      purgeAt: new Date(at.getTime() + month),
    },
  };
}

/** Inserts completed sessions directly into the database, for each owner in turn. */
export async function insertCodes(
  db: Db,
  { count, owners, returning = false, openid = false }: Visitors,
): Promise<{ code: string; owner: Owner }[]> {
  const at = new Date();
  const made = Array.from({ length: count }, (_, n) => {
    const owner = owners[n % owners.length];
    if (!owner) throw new Error('nobody owns these codes');
    const visit = visitOf(owner, at, returning);
    if (openid) Object.assign(visit.session, { openid: { nonce: 'bench', authenticatedAt: at } });
    return { owner, ...visit };
  });
  const options = { ordered: false, writeConcern: { w: 1, journal: false } } as const;
  await db.collection<User>('users').insertMany(
    made.map(({ user }) => user),
    options,
  );
  await db.collection<Enrollment>('enrollments').insertMany(
    made.map(({ enrollment }) => enrollment),
    options,
  );
  await db.collection<Session>('sessions').insertMany(
    made.map(({ session }) => session),
    options,
  );
  return made.map(({ code, owner }) => ({ code, owner }));
}
