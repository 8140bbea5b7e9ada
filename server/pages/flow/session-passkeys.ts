import { codeLifetimeSeconds } from '../../../contracts/verification.ts';
import type { Snapshot } from '../../people/enrollments/claims-snapshot.ts';
import type { Enrolling } from '../../people/enrollments/enroll.ts';
import {
  type Binding,
  mostPasskeys,
  type Passkeys,
  type UnverifiedAnswer,
} from '../../people/passkeys/passkeys.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Session } from '../../sessions/session.ts';
import type { BrowserContext } from '../../sessions/session-access.ts';
import type { PagesContext } from '../context.ts';

type Options = ReturnType<Passkeys['requestOptions']> | ReturnType<Passkeys['creationOptions']>;

export interface Returned {
  /** The records of the user, as read while the response was verified. They may have changed since. */
  snapshot: Snapshot;
  /** Whether the user need not be verified again. */
  skipsVerification: boolean;
  /** Whether the claims stay fresh for as long as a code that is issued now is valid. */
  outlastsCode: boolean;
  /** Settles when the use of the passkey is stored, and never rejects. */
  useStored: Promise<unknown>;
}

/** `max_age` of OpenID Connect: a passkey replaces only an authentication at the source that is not older. */
function withinMaxAge(session: Session): Session {
  const { openid, maxVerificationAge = Number.POSITIVE_INFINITY } = session;
  if (openid?.maxAge === undefined) return session;
  return { ...session, maxVerificationAge: Math.min(maxVerificationAge, openid.maxAge) };
}

/** Passkeys in the hosted flow. A challenge is invalid once its session or the browser's secret has changed. */
export function createSessionPasskeys(
  { passkeyRpId, directory, findSnapshot, hasFreshClaims }: PagesContext,
  { passkeys, enrolling }: { passkeys: Passkeys; enrolling: Enrolling },
) {
  const passkeysOn = passkeyRpId !== undefined;
  /** Binds a challenge to the present state of a session. Each transition makes the timeline longer. */
  const bindingOf = (ceremony: string, { _id, browserHash, timeline }: Session): Binding => [
    ceremony,
    _id,
    browserHash,
    timeline.length,
  ];

  /** Whether users of the session's client may use passkeys. Clients allow them unless an operator switches them off. */
  const areAllowed = async ({ clientId }: Session): Promise<boolean> =>
    passkeysOn && (await directory.client(clientId))?.client.passkeys !== false;

  const userOf = ({ _id, userId }: Session): string => {
    if (userId === undefined) throw new Error(`session ${_id} has no user to save a passkey for`);
    return userId;
  };

  return {
    areAllowed,
    /** Reads a passkey's answer from a form. Without passkeys, nothing is read, and `use` refuses. */
    readAnswer: async (text: string): Promise<UnverifiedAnswer> =>
      passkeysOn ? passkeys.readAnswer(text) : { answer: undefined, passkey: undefined },
    onCeremony: passkeys.onCeremony,

    /** Returns the options for a return on the first page. Undefined if the client does not allow passkeys. */
    returnOptions: async (session: Session): Promise<Options | undefined> =>
      (await areAllowed(session)) ? passkeys.requestOptions(bindingOf('return', session)) : undefined,

    /** Verifies the passkey of a returning user. @throws ApiError `passkey_refused`, `passkey_unknown`, `passkey_other_mode` */
    async use(session: Session, presented: UnverifiedAnswer): Promise<Returned> {
      if (!(await areAllowed(session))) throw new ApiError('passkey_refused');
      const { found: snapshot, useStored } = await passkeys.use(presented, bindingOf('return', session), {
        mode: session.mode,
        ceremony: 'return',
        read: (userId) => findSnapshot(enrolling.idsOf(session, userId)),
      });
      const { user } = snapshot;
      // A duplicate identity is verified again, because that verification blocks the enrollment.
      const limited = withinMaxAge(session);
      const skipsVerification = !user.duplicate && hasFreshClaims(limited, user);
      passkeys.onCeremony('return', skipsVerification ? 'done' : 'stale');
      const outlastsCode = skipsVerification && hasFreshClaims(limited, user, codeLifetimeSeconds * 1000);
      return { snapshot, skipsVerification, outlastsCode, useStored };
    },

    /**
     * Whether the user is asked to save a passkey before the code is issued. After a hand-off the user is not asked:
     * the passkey would stay on the computer, and the computer may belong to another person.
     */
    async isAskedToSave(session: Session, { passkeyMark }: BrowserContext): Promise<boolean> {
      if (session.passkey !== 'offered' || !session.userId || session.handoff?.state === 'confirmed')
        return false;
      // The mark says that this user has answered in this browser before.
      if (passkeyMark === passkeys.markOf(session.userId) || !(await areAllowed(session))) return false;
      return (await passkeys.ofUser(session.userId)).length < mostPasskeys;
    },

    async saveOptions(session: Session): Promise<Options> {
      const userId = userOf(session);
      const existing = await passkeys.ofUser(userId);
      return passkeys.creationOptions(userId, existing, bindingOf('save', session));
    },

    /** Stores a passkey that the browser has made. @throws ApiError `passkey_refused` */
    save: (session: Session, answer: string): Promise<void> =>
      passkeys.save(answer, userOf(session), bindingOf('save', session)),

    markOf: passkeys.markOf,
  };
}
export type SessionPasskeys = ReturnType<typeof createSessionPasskeys>;
