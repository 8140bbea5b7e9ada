import { requireReleased } from '../../partners/members/held-invitations.ts';
import type { Invitations } from '../../partners/members/invitations.ts';
import type { Member } from '../../partners/members/member-store.ts';
import type { MembersStores } from '../../partners/members/store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Actor } from '../../platform/database/audit/audit-entry.ts';
import { ApiError } from '../../platform/errors.ts';
import { bytesOfId, sha256 } from '../../platform/ids.ts';
import type { createChallenges } from '../../platform/webauthn/challenges.ts';
import {
  type createRelyingParty,
  readAssertion,
  readCreation,
} from '../../platform/webauthn/relying-party.ts';
import type { MemberSessions } from './member-sessions.ts';

interface Dependencies {
  members: MembersStores['members'];
  sessions: MemberSessions;
  invitations: Invitations;
  challenges: ReturnType<typeof createChallenges>;
  relyingParty: ReturnType<typeof createRelyingParty>;
  clock: Pick<Clock, 'now'>;
}

const passkeyError = () =>
  new ApiError('unauthorized', { description: 'The passkey was not accepted; try again' });
const invitationError = () =>
  new ApiError('not_found', { description: 'This invitation was used, has expired, or was replaced' });

/** The WebAuthn user handle of a member: 16 bytes that look random. It is never empty, because `_id` is a well-formed id. */
const handleOf = ({ _id }: Member) => bytesOfId('member', _id)?.toString('base64url') ?? '';

export function createSignIn(dependencies: Dependencies) {
  const { members, sessions, invitations, challenges, relyingParty, clock } = dependencies;
  // A challenge is valid for one purpose and one browser. The cookie of that browser contains the nonce.
  const forSignIn = (nonce: string) => ['portal sign-in', sha256(nonce)];
  const forInvitation = (secret: string, nonce: string) => [
    'portal invitation',
    sha256(secret),
    sha256(nonce),
  ];

  /** Starts a session of the browser. @throws ApiError `unauthorized` if `member` was removed, or has another passkey by now */
  async function startSession({ _id: memberId, partnerId, passkey }: Member): Promise<string> {
    const fields = { memberId, partnerId, passkeyAt: new Date(clock.now()) };
    const session = await sessions.start('memberSession', fields, passkey?.credentialId);
    if (!session) throw passkeyError();
    return session.secret;
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
      const member = await members.findByCredential(credentialId);
      if (member?.status !== 'active' || !member.passkey) throw passkeyError();
      // Authenticators may leave the user handle out.
      const { userHandle } = assertion.response;
      if (userHandle !== undefined && userHandle !== handleOf(member)) throw passkeyError();
      const publicKey = Buffer.from(member.passkey.publicKey, 'base64url');
      const use = await relyingParty.verifyAssertion(assertion, challenge, { ...member.passkey, publicKey });
      if (!use) throw passkeyError();
      const isFirstAnswer = await members.recordAnswer(
        { memberId: member._id, credentialId },
        { issuedAt, use, at: new Date(clock.now()) },
      );
      if (!isFirstAnswer) throw passkeyError();
      return { member, secret: await startSession(member) };
    },

    /** The invited member, with options for `navigator.credentials.create`. @throws ApiError `not_found` */
    async creationOptions(secret: string, nonce: string) {
      const member = await invitations.find(secret);
      if (!member) throw invitationError();
      requireReleased(member, clock.now());
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
      const invited = await invitations.find(secret);
      if (!invited) throw invitationError();
      const creation = readCreation(answer);
      const purpose = forInvitation(secret, nonce);
      if (!creation || challenges.check(purpose, creation.challenge) === undefined) throw passkeyError();
      const passkey = await relyingParty.verifyCreation(creation, creation.challenge);
      if (!passkey) throw passkeyError();
      const member = await invitations.accept(invited, passkey, { ...request, action: 'members.accept' });
      if (!member) throw invitationError();
      return { member, secret: await startSession(member) };
    },
  };
}
export type SignIn = ReturnType<typeof createSignIn>;
