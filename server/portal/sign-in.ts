import type { Clock } from '../platform/clock.ts';
import type { Actor } from '../platform/database/audit-entry.ts';
import { ApiError } from '../platform/errors.ts';
import { bytesOfId, isWellFormedSecret, randomSecret, sha256 } from '../platform/ids.ts';
import type { createChallenges } from '../platform/webauthn/challenges.ts';
import { type createRelyingParty, readAssertion, readCreation } from '../platform/webauthn/relying-party.ts';
import type { MemberSession } from './member-session-store.ts';
import type { Member } from './member-store.ts';
import type { Members } from './members.ts';
import type { PortalStores } from './store.ts';

export const sessionLifetimeMs = 12 * 3_600_000;
/** The time after a use of the passkey in which a member may change secrets and members, in milliseconds. */
export const freshForMs = 30 * 60_000;

interface Dependencies {
  stores: PortalStores;
  members: Members;
  challenges: ReturnType<typeof createChallenges>;
  relyingParty: ReturnType<typeof createRelyingParty>;
  clock: Pick<Clock, 'now'>;
}

/** A signed-in member, with the session of a request. */
export interface SignedIn {
  member: Member;
  session: MemberSession;
  /** The secret in the cookie. */
  secret: string;
  isFresh: boolean;
}
export type Call = Omit<Actor, 'operatorId' | 'operatorName' | 'action'>;

const failed = () => new ApiError('unauthorized', { description: 'The passkey was not accepted; try again' });
const ended = () =>
  new ApiError('not_found', { description: 'This invitation was used, has expired, or was replaced' });

/** The WebAuthn user handle of a member: 16 bytes that look random. */
const handleOf = ({ _id }: Member) => bytesOfId('member', _id)?.toString('base64url') ?? '';

/** Signs members in by passkey. */
export function createSignIn({ stores, members, challenges, relyingParty, clock }: Dependencies) {
  const { memberSessions } = stores;
  const forSignIn = (nonce: string) => ['portal sign-in', sha256(nonce)];
  const forInvitation = (secret: string, nonce: string) => [
    'portal invitation',
    sha256(secret),
    sha256(nonce),
  ];

  async function begin(member: Member): Promise<string> {
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
    // A removal or a new passkey ends existing sessions, but may have come before this session was stored.
    const after = await stores.members.find(member._id);
    if (after?.status === 'active' && after.passkey?.credentialId === member.passkey?.credentialId)
      return secret;
    await memberSessions.end(sha256(secret));
    throw failed();
  }

  return {
    /** Options for `navigator.credentials.get`. @param nonce the nonce of the browser's cookie */
    requestOptions: (nonce: string) => relyingParty.requestOptions(challenges.issue(forSignIn(nonce))),

    /**
     * @param answer the browser's response to the options, in JSON
     * @returns the secret of the new session
     * @throws ApiError `unauthorized`
     */
    async signIn(answer: string, nonce: string): Promise<{ member: Member; secret: string }> {
      const assertion = readAssertion(answer);
      const issuedAt = assertion && challenges.check(forSignIn(nonce), assertion.challenge);
      if (!assertion || issuedAt === undefined) throw failed();
      const member = await stores.members.findByCredential(assertion.credentialId);
      if (member?.status !== 'active' || !member.passkey) throw failed();
      const { userHandle } = assertion.response;
      if (userHandle !== undefined && userHandle !== handleOf(member)) throw failed();
      const publicKey = Buffer.from(member.passkey.publicKey, 'base64url');
      const use = await relyingParty.verifyAssertion(assertion, assertion.challenge, {
        ...member.passkey,
        publicKey,
      });
      const at = new Date(clock.now());
      if (!use || !(await stores.members.noteAnswer(member, { issuedAt, use, at }))) throw failed();
      return { member, secret: await begin(member) };
    },

    /** The invited member, with options for `navigator.credentials.create`. @throws ApiError `not_found` */
    async creationOptions(secret: string, nonce: string) {
      const member = await members.invited(secret);
      if (!member) throw ended();
      const user = { handle: handleOf(member), name: member.email ?? member._id };
      const challenge = challenges.issue(forInvitation(secret, nonce));
      return { member, options: relyingParty.creationOptions(challenge, user, []) };
    },

    /** Uses an invitation, and signs the member in. @throws ApiError `not_found`, `unauthorized` */
    async accept(
      { secret, nonce, answer }: { secret: string; nonce: string; answer: string },
      call: Call,
    ): Promise<{ member: Member; secret: string }> {
      const invited = await members.invited(secret);
      if (!invited) throw ended();
      const creation = readCreation(answer);
      const issuedAt = creation && challenges.check(forInvitation(secret, nonce), creation.challenge);
      if (!creation || issuedAt === undefined) throw failed();
      const passkey = await relyingParty.verifyCreation(creation, creation.challenge);
      if (!passkey) throw failed();
      const member = await members.accept(invited, passkey, { ...call, action: 'members.accept' });
      if (!member) throw ended();
      return { member, secret: await begin(member) };
    },

    /** The member that a cookie signs in; undefined if the cookie is invalid or has expired. */
    async find(secret: string | undefined): Promise<SignedIn | undefined> {
      if (secret === undefined || !isWellFormedSecret('memberSession', secret)) return undefined;
      const session = await memberSessions.find(sha256(secret));
      const now = clock.now();
      if (!session || session.expiresAt.getTime() <= now) return undefined;
      const member = await stores.members.find(session.memberId);
      if (member?.status !== 'active') return undefined;
      return { member, session, secret, isFresh: now - session.passkeyAt.getTime() < freshForMs };
    },

    async end(secret: string): Promise<void> {
      await memberSessions.end(sha256(secret));
    },
  };
}
export type SignIn = ReturnType<typeof createSignIn>;
