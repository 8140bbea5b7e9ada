import type { MemberSession } from '../members/member-session-store.ts';
import type { Member } from '../members/member-store.ts';
import type { Members } from '../members/members.ts';
import type { MembersStores } from '../members/store.ts';
import type { Clock } from '../platform/clock.ts';
import type { Actor } from '../platform/database/audit-entry.ts';
import { ApiError } from '../platform/errors.ts';
import { bytesOfId, isWellFormedSecret, randomSecret, sha256 } from '../platform/ids.ts';
import type { createChallenges } from '../platform/webauthn/challenges.ts';
import { type createRelyingParty, readAssertion, readCreation } from '../platform/webauthn/relying-party.ts';

/** The lifetime of a session of a browser or a program, in milliseconds. */
export const sessionLifetimeMs = 12 * 3_600_000;
/**
 * A session is fresh for this time after the member has used the passkey, in milliseconds. Only a fresh session may change secrets
 * and members, so that a browser that was left open cannot be misused for it.
 */
export const freshForMs = 30 * 60_000;
/** Until when a session is fresh, in milliseconds since 1970. */
export const freshUntil = ({ passkeyAt }: Pick<MemberSession, 'passkeyAt'>): number =>
  passkeyAt.getTime() + freshForMs;

interface Dependencies {
  stores: MembersStores;
  members: Members;
  challenges: ReturnType<typeof createChallenges>;
  relyingParty: ReturnType<typeof createRelyingParty>;
  clock: Pick<Clock, 'now'>;
}

/** A signed-in member, with the session of a request. */
export interface SignedIn {
  member: Member;
  session: MemberSession;
  /** The secret in the browser's cookie, or the token of a program. */
  secret: string;
  /** Whether the passkey was used in the last 30 minutes (`freshForMs`). */
  isFresh: boolean;
}

const passkeyError = () =>
  new ApiError('unauthorized', { description: 'The passkey was not accepted; try again' });
const invitationError = () =>
  new ApiError('not_found', { description: 'This invitation was used, has expired, or was replaced' });

/** The WebAuthn user handle of a member: 16 bytes that look random. It is never empty, because `_id` is a well-formed id. */
const handleOf = ({ _id }: Member) => bytesOfId('member', _id)?.toString('base64url') ?? '';

/** Signs members in by passkey. */
export function createSignIn({ stores, members, challenges, relyingParty, clock }: Dependencies) {
  const { memberSessions } = stores;
  // A challenge is valid for one purpose and one browser. The cookie of that browser contains the nonce.
  const forSignIn = (nonce: string) => ['portal sign-in', sha256(nonce)];
  const forInvitation = (secret: string, nonce: string) => [
    'portal invitation',
    sha256(secret),
    sha256(nonce),
  ];

  /**
   * Stores a new session of a browser.
   * @returns the secret of the session
   * @throws ApiError `unauthorized` if the member was removed, or has another passkey, since `member` was read
   */
  async function createSession(member: Member): Promise<string> {
    const now = clock.now();
    const secret = randomSecret('memberSession');
    await memberSessions.insert({
      _id: sha256(secret),
      memberId: member._id,
      partnerId: member.partnerId,
      passkeyAt: new Date(now),
      createdAt: new Date(now),
      expiresAt: new Date(now + sessionLifetimeMs),
    });
    // A removal or a new passkey ends stored sessions. If it came just before, it has missed this session.
    const current = await stores.members.find(member._id);
    if (current?.status === 'active' && current.passkey?.credentialId === member.passkey?.credentialId)
      return secret;
    await memberSessions.end(sha256(secret));
    throw passkeyError();
  }

  return {
    /** Options for `navigator.credentials.get`. @param nonce the nonce of the browser's cookie */
    requestOptions: (nonce: string) => relyingParty.requestOptions(challenges.issue(forSignIn(nonce))),

    /**
     * Signs a member in by passkey. Each challenge can be answered only once.
     * @param answer the browser's response to the options, in JSON
     * @returns the secret of the new session
     * @throws ApiError `unauthorized`
     */
    async signIn(answer: string, nonce: string): Promise<{ member: Member; secret: string }> {
      const assertion = readAssertion(answer);
      if (!assertion) throw passkeyError();
      const { credentialId, challenge } = assertion;
      // Undefined if the challenge has expired, or was issued to another browser or for another purpose.
      const issuedAt = challenges.check(forSignIn(nonce), challenge);
      if (issuedAt === undefined) throw passkeyError();
      const member = await stores.members.findByCredential(credentialId);
      if (member?.status !== 'active' || !member.passkey) throw passkeyError();
      // Authenticators may leave the user handle out.
      const { userHandle } = assertion.response;
      if (userHandle !== undefined && userHandle !== handleOf(member)) throw passkeyError();
      const publicKey = Buffer.from(member.passkey.publicKey, 'base64url');
      const use = await relyingParty.verifyAssertion(assertion, challenge, { ...member.passkey, publicKey });
      if (!use) throw passkeyError();
      const isFirstAnswer = await stores.members.recordAnswer(
        { memberId: member._id, credentialId },
        { issuedAt, use, at: new Date(clock.now()) },
      );
      if (!isFirstAnswer) throw passkeyError();
      return { member, secret: await createSession(member) };
    },

    /** The invited member, with options for `navigator.credentials.create`. @throws ApiError `not_found` */
    async creationOptions(secret: string, nonce: string) {
      const member = await members.invited(secret);
      if (!member) throw invitationError();
      const user = { handle: handleOf(member), name: member.email ?? member._id };
      const challenge = challenges.issue(forInvitation(secret, nonce));
      // No credential is excluded: the new passkey may replace one on the same authenticator.
      const excludedCredentials: string[] = [];
      return { member, options: relyingParty.creationOptions(challenge, user, excludedCredentials) };
    },

    /**
     * Uses an invitation, and signs the member in.
     * @param request the id and the address of the request, for the audit log
     * @throws ApiError `not_found` if the invitation is not valid, `unauthorized` if the passkey is not
     */
    async accept(
      { secret, nonce, answer }: { secret: string; nonce: string; answer: string },
      request: Pick<Actor, 'requestId' | 'address'>,
    ): Promise<{ member: Member; secret: string }> {
      const invited = await members.invited(secret);
      if (!invited) throw invitationError();
      const creation = readCreation(answer);
      const purpose = forInvitation(secret, nonce);
      if (!creation || challenges.check(purpose, creation.challenge) === undefined) throw passkeyError();
      const passkey = await relyingParty.verifyCreation(creation, creation.challenge);
      if (!passkey) throw passkeyError();
      const member = await members.accept(invited, passkey, { ...request, action: 'members.accept' });
      if (!member) throw invitationError();
      return { member, secret: await createSession(member) };
    },

    /** The member that a cookie signs in; undefined if the cookie is invalid or has expired. */
    async find(secret: string | undefined): Promise<SignedIn | undefined> {
      if (secret === undefined || !isWellFormedSecret('memberSession', secret)) return undefined;
      const session = await memberSessions.find(sha256(secret));
      const now = clock.now();
      if (!session || session.expiresAt.getTime() <= now) return undefined;
      const member = await stores.members.find(session.memberId);
      if (member?.status !== 'active') return undefined;
      return { member, session, secret, isFresh: now < freshUntil(session) };
    },

    /** Ends a session. Idempotent. */
    async end(secret: string): Promise<void> {
      await memberSessions.end(sha256(secret));
    },
  };
}
export type SignIn = ReturnType<typeof createSignIn>;
