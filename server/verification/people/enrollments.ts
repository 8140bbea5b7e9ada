import { deriveId, hmac } from '../../platform/ids.ts';
import type { Keyring } from '../../platform/keyring.ts';
import { claimsAskedFor, type Session } from '../sessions.ts';
import type { Authenticated } from '../sources/source.ts';
import type { Enrollment, EnrollmentStore } from './enrollment-store.ts';
import type { UserStore } from './user-store.ts';

/** `sub` and the `user_id` of events: stable for a partner, and of no use to two partners who compare. */
function pairwiseSubject(key: Uint8Array, about: Pick<Enrollment, 'mode' | 'partnerId' | 'userId'>): string {
  return hmac(key, [about.mode, about.partnerId, about.userId].join('|'));
}

/** How long a person is kept who will never come again. */
const keepPassing = 86_400_000;

interface Dependencies {
  users: UserStore;
  enrollments: EnrollmentStore;
  keyring: Pick<Keyring, 'id' | 'pairwise'>;
}

/**
 * Who has authenticated, as a user of this service and of the session's client. Both records are made at the
 * first time; doing it again for the same session changes nothing.
 */
export function createEnrolling({ users, enrollments, keyring }: Dependencies) {
  return async function enrol(session: Session, who: Authenticated, at: Date): Promise<Enrollment> {
    const { _id: sessionId, partnerId, clientId, keyId, mode } = session;
    const identity = hmac(keyring.id, JSON.stringify(['identity', mode, session.source, who.subject]));
    const life = who.passing ? { purgeAt: new Date(at.getTime() + keepPassing) } : {};
    const { _id: userId } = await users.meet({ identity, mode, createdAt: at, ...life });
    const sub = pairwiseSubject(keyring.pairwise, { mode, partnerId, userId });
    const _id = deriveId(keyring.id, 'enrollment', [clientId, userId]);
    return enrollments.enrol({
      _id,
      partnerId,
      clientId,
      keyId,
      mode,
      userId,
      sub,
      status: 'active',
      ...(mode === 'test' && who.rehearse ? { rehearse: who.rehearse } : {}),
      consentedClaims: claimsAskedFor(session),
      firstSession: sessionId,
      createdAt: at,
      ...life,
      outbox: [
        {
          type: 'enrollment.created',
          cause: [_id],
          partnerId,
          mode,
          keyId,
          about: { sessionId, enrollmentId: _id, sub },
          at,
          fields: { enrollment_id: _id, user_id: sub, created_at: at.toISOString() },
        },
      ],
      outboxAt: at,
      audit: [],
    });
  };
}
