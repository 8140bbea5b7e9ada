import { randomBytes } from 'node:crypto';
import type { Passkey } from '../../people/passkeys/passkey-store.ts';
import type { Passkeys } from '../../people/passkeys/passkeys.ts';
import type { User } from '../../people/users/user-store.ts';
import { ApiError } from '../../platform/errors.ts';
import { sameText, sha256 } from '../../platform/ids.ts';
import type { PagesContext } from '../context.ts';

export const signInLifetimeMs = 15 * 60_000;

export interface SignedIn {
  user: User;
  passkey: Passkey;
  cookie: string;
  /** After so many seconds, the sign-in has ended. */
  secondsLeft: number;
}

/** The passkey's id and the secret in a cookie; undefined for a malformed cookie. */
function parseCookie(cookie = ''): { passkeyId: string; secret: string } | undefined {
  const match = /^(?<passkeyId>pky_[0-9A-Za-z]{22})\.(?<secret>[\w-]{43})$/.exec(cookie);
  const { passkeyId, secret } = match?.groups ?? {};
  return passkeyId === undefined || secret === undefined ? undefined : { passkeyId, secret };
}

/**
 * Signs users in to their data by passkey. The sign-in is stored in the passkey's record, so that it ends with the
 * passkey. A passkey has at most one sign-in at a time.
 */
export function createUserSignIn({ passkeyStore: store, users, clock }: PagesContext, passkeys: Passkeys) {
  /** @param nonce the value of the browser's nonce cookie */
  const bindingOf = (nonce: string) => ['your data', sha256(nonce)];

  return {
    /** `PublicKeyCredentialRequestOptionsJSON` */
    requestOptions: (nonce: string) => passkeys.requestOptions(bindingOf(nonce)),

    /**
     * @param answer JSON of the browser's `PublicKeyCredential`
     * @returns the new value of the browser's cookie
     * @throws ApiError `passkey_refused`, `passkey_unknown`
     */
    async signIn(answer: string, nonce: string): Promise<string> {
      const presented = await passkeys.readAnswer(answer);
      const { passkey } = await passkeys.use(presented, bindingOf(nonce), {
        ceremony: 'sign_in',
        read: users.find,
      });
      const secret = randomBytes(32).toString('base64url');
      const signIn = { hash: sha256(secret), until: new Date(clock.now() + signInLifetimeMs) };
      if (!(await store.signIn(passkey, signIn))) throw new ApiError('passkey_unknown');
      passkeys.onCeremony('sign_in', 'done');
      return `${passkey._id}.${secret}`;
    },

    /** The user that a cookie signs in; undefined if the cookie is invalid or has expired. */
    async find(cookie = ''): Promise<SignedIn | undefined> {
      const parsed = parseCookie(cookie);
      const passkey = parsed && (await store.find(parsed.passkeyId));
      if (!parsed || !passkey?.signIn) return undefined;
      const { hash, until } = passkey.signIn;
      const leftMs = until.getTime() - clock.now();
      const isSignedIn = sameText(hash, sha256(parsed.secret)) && leftMs > 0;
      const user = isSignedIn ? await users.find(passkey.userId) : undefined;
      return user && { user, passkey, cookie, secondsLeft: Math.floor(leftMs / 1000) + 1 };
    },

    /** Whether the passkey of a cookie does not exist any more: it was removed, or its user was erased. */
    async isOfRemovedPasskey(cookie = ''): Promise<boolean> {
      const parsed = parseCookie(cookie);
      return parsed !== undefined && !(await store.find(parsed.passkeyId));
    },

    async end(cookie: string | undefined): Promise<void> {
      const parsed = parseCookie(cookie);
      if (parsed) await store.signOut(parsed.passkeyId, sha256(parsed.secret));
    },
  };
}
export type UserSignIn = ReturnType<typeof createUserSignIn>;
