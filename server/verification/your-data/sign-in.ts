import { randomBytes } from 'node:crypto';
import { ApiError } from '../../platform/errors.ts';
import { sameText, sha256 } from '../../platform/ids.ts';
import type { Passkey, PasskeyStore } from '../passkeys/passkey-store.ts';
import type { Passkeys } from '../passkeys/passkeys.ts';
import type { User, UserStore } from '../people/user-store.ts';

interface Dependencies {
  passkeys: Pick<Passkeys, 'requestOptions' | 'present' | 'use' | 'onCeremony'>;
  store: Pick<PasskeyStore, 'find' | 'signIn' | 'signOut'>;
  users: Pick<UserStore, 'find'>;
  clock: { now(): number };
}

/** How long a user stays signed in. */
export const signInLifetimeMs = 15 * 60_000;

/** A user who is signed in at a browser. */
export interface SignedIn {
  user: User;
  /** By which they have signed in. */
  passkey: Passkey;
  /** What the browser's cookie holds. */
  cookie: string;
}

/** The passkey that a cookie names, and the secret. */
function parsed(cookie = ''): { passkeyId: string; secret: string } | undefined {
  const [, passkeyId, secret] = /^(pky_[0-9A-Za-z]{22})\.([\w-]{43})$/.exec(cookie) ?? [];
  return passkeyId === undefined || secret === undefined ? undefined : { passkeyId, secret };
}

/**
 * Signs users in by passkey, to see their data. The passkey's record holds the sign-in, so that both end together. A passkey has
 * one at a time.
 */
export function createUserSignIn({ passkeys, store, users, clock }: Dependencies) {
  /** The nonce is that of the browser's cookie. */
  const bindingOf = (nonce: string) => ['your data', sha256(nonce)];

  return {
    /** `PublicKeyCredentialRequestOptionsJSON` */
    ask: (nonce: string) => passkeys.requestOptions(bindingOf(nonce)),

    /**
     * @param answer JSON of the browser's `PublicKeyCredential`
     * @returns what the browser's cookie must hold
     * @throws ApiError `passkey_refused`, `passkey_unknown`
     */
    async signIn(answer: string, nonce: string): Promise<string> {
      const presented = await passkeys.present(answer);
      const how = { ceremony: 'sign_in', read: users.find } as const;
      const { passkey } = await passkeys.use(presented, bindingOf(nonce), how);
      const secret = randomBytes(32).toString('base64url');
      const signIn = { hash: sha256(secret), until: new Date(clock.now() + signInLifetimeMs) };
      if (!(await store.signIn(passkey, signIn))) throw new ApiError('passkey_unknown');
      passkeys.onCeremony('sign_in', 'done');
      return `${passkey._id}.${secret}`;
    },

    /** The user that a cookie signs in; undefined where it signs in none. */
    async find(cookie: string | undefined): Promise<SignedIn | undefined> {
      const named = parsed(cookie);
      const passkey = named && (await store.find(named.passkeyId));
      const { hash = '', until } = passkey?.signIn ?? {};
      if (!named || !until || !sameText(hash, sha256(named.secret))) return undefined;
      const user = until.getTime() > clock.now() ? await users.find(passkey?.userId ?? '') : undefined;
      return passkey && user && { user, passkey, cookie: cookie ?? '' };
    },

    async end(cookie: string | undefined): Promise<void> {
      const named = parsed(cookie);
      if (named) await store.signOut(named.passkeyId, sha256(named.secret));
    },
  };
}
export type UserSignIn = ReturnType<typeof createUserSignIn>;
