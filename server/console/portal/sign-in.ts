import { requireReleased } from '../../partners/members/held-invitations.ts';
import { createInvitations } from '../../partners/members/invitations.ts';
import { passkeysOf } from '../../partners/members/member-passkeys.ts';
import type { Member } from '../../partners/members/member-store.ts';
import { createPasskeyChanges } from '../../partners/members/passkey-changes.ts';
import type { Actor } from '../../platform/database/audit/audit-entry.ts';
import { ApiError } from '../../platform/errors.ts';
import { bytesOfId, sha256 } from '../../platform/ids.ts';
import { createChallenges } from '../../platform/webauthn/challenges.ts';
import {
  createRelyingParty,
  type PasskeyKey,
  readAssertion,
  readCreation,
} from '../../platform/webauthn/relying-party.ts';
import type { PortalDependencies } from './dependencies.ts';
import type { MemberSessions, SignedIn } from './member-sessions.ts';

const passkeyError = () =>
  new ApiError('unauthorized', { description: 'The passkey was not accepted; try again' });
const invitationError = () =>
  new ApiError('not_found', { description: 'This invitation was used, has expired, or was replaced' });

/** The WebAuthn user handle of a member: 16 bytes that look random. It is never empty, because `_id` is a well-formed id. */
const handleOf = ({ _id }: Member) => bytesOfId('member', _id)?.toString('base64url') ?? '';

export function createSignIn(
  { stores, clock, keyring, about }: PortalDependencies,
  sessions: MemberSessions,
) {
  const { members } = stores;
  const invitations = createInvitations(stores, clock);
  const passkeys = createPasskeyChanges(stores, clock);
  const challenges = createChallenges(keyring.id, clock);
  const { hostname, origin } = new URL(about.baseUrl);
  const relyingParty = createRelyingParty({ id: hostname, name: 'SVC Gateway', origin });
  // A challenge is valid for one purpose and one browser. The cookie of that browser contains the nonce.
  const forSignIn = (nonce: string) => ['portal sign-in', sha256(nonce)];
  const forInvitation = (secret: string, nonce: string) => [
    'portal invitation',
    sha256(secret),
    sha256(nonce),
  ];

  /** Every change of the member ends a challenge, so that no answer adds a passkey twice. */
  const forSecond = ({ secret, member }: SignedIn) => ['portal passkey', sha256(secret), member.revision];

  /** Reads and verifies a new passkey. @throws ApiError `unauthorized` */
  async function readPasskey(answer: string, purpose: readonly (string | number)[]): Promise<PasskeyKey> {
    const creation = readCreation(answer);
    if (!creation || challenges.check(purpose, creation.challenge) === undefined) throw passkeyError();
    const passkey = await relyingParty.verifyCreation(creation, creation.challenge);
    if (!passkey) throw passkeyError();
    return passkey;
  }

  /** Starts a session of the browser. @throws ApiError `unauthorized` if the member was removed, or has lost the passkey */
  async function startSession({ _id: memberId, partnerId }: Member, credentialId: string): Promise<string> {
    const fields = { memberId, partnerId, credentialId, passkeyAt: new Date(clock.now()) };
    const session = await sessions.start('memberSession', fields);
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
      const passkey = member && passkeysOf(member).find((one) => one.credentialId === credentialId);
      if (member?.status !== 'active' || !passkey) throw passkeyError();
      // Authenticators may leave the user handle out.
      const { userHandle } = assertion.response;
      if (userHandle !== undefined && userHandle !== handleOf(member)) throw passkeyError();
      const publicKey = Buffer.from(passkey.publicKey, 'base64url');
      const use = await relyingParty.verifyAssertion(assertion, challenge, { ...passkey, publicKey });
      if (!use) throw passkeyError();
      const isFirstAnswer = await members.recordAnswer(
        { memberId: member._id, credentialId },
        { issuedAt, use, at: new Date(clock.now()) },
      );
      if (!isFirstAnswer) throw passkeyError();
      return { member, secret: await startSession(member, credentialId) };
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
      const passkey = await readPasskey(answer, forInvitation(secret, nonce));
      const member = await invitations.accept(invited, passkey, { ...request, action: 'members.accept' });
      if (!member) throw invitationError();
      return { member, secret: await startSession(member, passkey.credentialId) };
    },

    /** Options for one more passkey of a member who is signed in. An authenticator that has one of the others makes none. */
    secondOptions(signedIn: SignedIn) {
      const { member } = signedIn;
      const user = { handle: handleOf(member), name: member.email ?? member._id };
      const existing = passkeysOf(member).map(({ credentialId }) => credentialId);
      return relyingParty.creationOptions(challenges.issue(forSecond(signedIn)), user, existing);
    },

    /**
     * Adds a passkey. @param name what the member calls it @param actor the member, for the audit log
     * @throws ApiError `passkey_required` without a recent sign-in, `unauthorized`, `refused`
     */
    async addPasskey(signedIn: SignedIn, answer: string, { name, actor }: { name?: string; actor: Actor }) {
      if (!signedIn.isFresh) throw new ApiError('passkey_required');
      await passkeys.add(await readPasskey(answer, forSecond(signedIn)), name, actor);
    },

    /** @throws ApiError `passkey_required` without a recent sign-in, `not_found`, `refused` for the last passkey */
    async removePasskey({ isFresh }: SignedIn, credentialId: string, actor: Actor) {
      if (!isFresh) throw new ApiError('passkey_required');
      await passkeys.remove(credentialId, actor);
    },
  };
}
export type SignIn = ReturnType<typeof createSignIn>;
