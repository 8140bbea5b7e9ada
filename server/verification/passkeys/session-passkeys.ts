import { ApiError } from '../../platform/errors.ts';
import type { BrowserContext } from '../browser/session-access.ts';
import type { ClientDirectory } from '../flow/start.ts';
import type { IsKnown } from '../people/known-claims.ts';
import type { User } from '../people/user-store.ts';
import type { Session } from '../session/session.ts';
import { type Binding, mostPasskeys, type Passkeys } from './passkeys.ts';

interface Dependencies {
  /** Whether this installation has passkeys. */
  isOn: boolean;
  passkeys: Passkeys;
  directory: Pick<ClientDirectory, 'client'>;
  isKnown: IsKnown;
}

type Options = ReturnType<Passkeys['requestOptions']> | ReturnType<Passkeys['creationOptions']>;

/** What a passkey can do in a session. */
export interface Returned {
  user: User;
  /** Whether the user need not be verified again. */
  isKnown: boolean;
}

/** Passkeys in the hosted flow. A challenge is of no use once its session has changed, or the browser's secret. */
export function createSessionPasskeys({ isOn, passkeys, directory, isKnown }: Dependencies) {
  const bindingOf = (ceremony: string, { _id, browserHash, timeline }: Session): Binding => [
    ceremony,
    _id,
    browserHash,
    timeline.length,
  ];

  /** Whether users of the session's client may use passkeys. */
  const areAllowed = async ({ clientId }: Session): Promise<boolean> =>
    isOn && (await directory.client(clientId))?.client.passkeys !== false;

  const userOf = ({ _id, userId }: Session): string => {
    if (userId === undefined) throw new Error(`session ${_id} has no user to save a passkey for`);
    return userId;
  };

  return {
    areAllowed,
    onCeremony: passkeys.onCeremony,

    /** For the first page; undefined where the client does not allow passkeys. */
    toReturn: async (session: Session): Promise<Options | undefined> =>
      (await areAllowed(session)) ? passkeys.requestOptions(bindingOf('return', session)) : undefined,

    /** @throws ApiError `passkey_refused`, `passkey_unknown`, `passkey_other_mode` */
    async use(session: Session, answer: string): Promise<Returned> {
      if (!(await areAllowed(session))) throw new ApiError('passkey_refused');
      const { mode } = session;
      const binding = bindingOf('return', session);
      const { user } = await passkeys.use(answer, binding, { mode, ceremony: 'return' });
      // A duplicate identity blocks the enrollment: the usual way does so.
      const known = !user.duplicate && isKnown(session, user);
      passkeys.onCeremony('return', known ? 'done' : 'stale');
      return { user, isKnown: known };
    },

    /**
     * Whether the user is asked to save a passkey before the code is issued. Not after a hand-off: a passkey of the computer would
     * stay with the person who sits there, long after the one session that the user at the phone has confirmed.
     */
    async isAsked(session: Session, { passkeyMark }: BrowserContext): Promise<boolean> {
      if (session.passkey !== 'offered' || !session.userId || session.handoff?.state === 'confirmed')
        return false;
      if (passkeyMark === passkeys.markOf(session.userId) || !(await areAllowed(session))) return false;
      return (await passkeys.ofUser(session.userId)).length < mostPasskeys;
    },

    async toSave(session: Session): Promise<Options> {
      const userId = userOf(session);
      const own = await passkeys.ofUser(userId);
      return passkeys.creationOptions(userId, own, bindingOf('save', session));
    },

    /** @throws ApiError `passkey_refused` */
    save: (session: Session, answer: string): Promise<void> =>
      passkeys.save(answer, userOf(session), bindingOf('save', session)),

    markOf: passkeys.markOf,
  };
}
export type SessionPasskeys = ReturnType<typeof createSessionPasskeys>;
