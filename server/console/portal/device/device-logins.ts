import type {
  Confirmation,
  Decision,
  DeviceRequest,
} from '../../../partners/members/device-request-store.ts';
import type { DeviceSession } from '../../../partners/members/member-session-store.ts';
import { isDuplicateKey } from '../../../platform/database/failures.ts';
import { ApiError } from '../../../platform/errors.ts';
import { isWellFormedSecret, randomSecret, sha256 } from '../../../platform/ids.ts';
import type { PortalDependencies } from '../dependencies.ts';
import type { MemberSessions, SignedIn } from '../member-sessions.ts';
import { randomUserCode, readUserCode, shownUserCode, userCodeDigest } from './user-code.ts';

/** The time in which a login request can be confirmed and used, in milliseconds. */
export const requestLifetimeMs = 10 * 60_000;
/** Seconds between two polls. Each poll that comes too early makes the interval longer by the same time (RFC 8628 3.5). */
export const pollInterval = 5;
/** The most logins that a member may have at a time. */
export const mostLogins = 20;

export type DeviceLogins = ReturnType<typeof createDeviceLogins>;

const userCodeError = () =>
  new ApiError('not_found', {
    description: 'No login waits for this code: it is wrong, used, or older than 10 minutes',
  });
const deviceCodeError = () =>
  new ApiError('invalid_grant', { description: 'Unknown or used device code: start again' });
export const endedLoginError = () => new ApiError('not_found', { description: 'This login has ended' });

/**
 * Signs in programs of members that have no browser (RFC 8628). A program starts a login request and shows its user code. A member
 * types that code in the portal and confirms the request. The program polls with the device code until it gets a token.
 * The methods throw ApiError.
 */
export function createDeviceLogins({ stores, clock, keyring }: PortalDependencies, sessions: MemberSessions) {
  const { memberSessions, deviceRequests } = stores;

  /** The digest under which the request of a user code is stored. @throws ApiError `not_found` if the text is no user code */
  function digestOf(typedCode: string): string {
    const code = readUserCode(typedCode);
    if (code === undefined) throw userCodeError();
    return userCodeDigest(keyring.id, code);
  }

  /** Starts the session of a program. @throws ApiError `device_login_denied` if the member has changed since the confirmation */
  async function startSession({ name, address }: DeviceRequest, confirmation: Confirmation) {
    const { role, ...fields } = confirmation;
    const device = { name, address, role };
    const session = await sessions.start('deviceToken', { ...fields, device });
    if (session) return { token: session.secret, role, expiresAt: session.expiresAt };
    throw new ApiError('device_login_denied', { description: 'The membership has changed: start again' });
  }

  async function decide(typedCode: string, decision: Decision): Promise<void> {
    const isPending = await deviceRequests.decide(digestOf(typedCode), new Date(clock.now()), decision);
    if (!isPending) throw userCodeError();
  }

  /** The logins of one member, or of all members of a partner, that have not expired. The newest is the first. */
  async function list(owner: { memberId: string } | { partnerId: string }): Promise<DeviceSession[]> {
    const logins = await memberSessions.listDevices(owner);
    return logins.filter(({ expiresAt }) => expiresAt.getTime() > clock.now());
  }

  return {
    list,

    /** Starts a login request. @returns the device code for the polls, and the user code as the program shows it */
    async start({ name, address }: { name: string; address: string }) {
      for (;;) {
        const now = clock.now();
        const deviceCode = randomSecret('deviceCode');
        const userCode = randomUserCode();
        const expiresAt = new Date(now + requestLifetimeMs);
        try {
          await deviceRequests.insert({
            _id: sha256(deviceCode),
            userCode: userCodeDigest(keyring.id, userCode),
            status: 'pending',
            name,
            address,
            interval: pollInterval,
            createdAt: new Date(now),
            expiresAt,
          });
          return { deviceCode, userCode: shownUserCode(userCode) };
        } catch (error) {
          // A duplicate means that another request has the same user code. The next turn of the loop makes a new code.
          if (!isDuplicateKey(error)) throw error;
        }
      }
    },

    /**
     * Answers a poll. If the request is confirmed, uses it and makes the session.
     * @throws ApiError `authorization_pending`, `slow_down`, `expired_token`, `device_login_denied`, `invalid_grant`
     */
    async poll(deviceCode: string) {
      if (!isWellFormedSecret('deviceCode', deviceCode)) throw deviceCodeError();
      const now = clock.now();
      const request = await deviceRequests.recordPoll(sha256(deviceCode), new Date(now));
      if (!request || request.status === 'used') throw deviceCodeError();
      // `polledAt` is the time of the previous poll.
      const { _id: id, status, expiresAt, polledAt, interval, confirmation } = request;
      if (expiresAt.getTime() <= now) throw new ApiError('expired_token');
      // The program has to wait between two polls, whatever the member has decided meanwhile.
      const isEarly = polledAt !== undefined && now - polledAt.getTime() < interval * 1000;
      if (isEarly) {
        await deviceRequests.lengthenInterval(id, pollInterval);
        throw new ApiError('slow_down', { retryAfter: interval + pollInterval });
      }
      if (status === 'denied') throw new ApiError('device_login_denied');
      if (!confirmation) throw new ApiError('authorization_pending');
      // Of two simultaneous polls, only one gets a token.
      if (!(await deviceRequests.use(id))) throw deviceCodeError();
      return startSession(request, confirmation);
    },

    /** The request with this user code, while it waits for a member. @throws ApiError `not_found` */
    async show(typedCode: string): Promise<DeviceRequest> {
      const request = await deviceRequests.findPending(digestOf(typedCode), new Date(clock.now()));
      if (!request) throw userCodeError();
      return request;
    },

    /** Lets a program in. @throws ApiError `passkey_required`, `refused`, `not_found` */
    async confirm(typedCode: string, { member, session, isFresh }: SignedIn): Promise<void> {
      if (!isFresh) throw new ApiError('passkey_required');
      if ((await list({ memberId: member._id })).length >= mostLogins)
        throw new ApiError('refused', { description: `You have ${mostLogins} logins: end one first` });
      const { _id: memberId, partnerId, role } = member;
      const { passkeyAt, credentialId } = session;
      const confirmation = { memberId, partnerId, role, passkeyAt, credentialId };
      await decide(typedCode, { status: 'confirmed', confirmation });
    },

    /** Refuses a login request. @throws ApiError `not_found` */
    deny: (typedCode: string): Promise<void> => decide(typedCode, { status: 'denied' }),

    /**
     * Lets a program change secrets: copies the time of the last passkey use from the browser's session to the program's.
     * @throws ApiError `passkey_required`, `not_found`
     */
    async allowChanges(id: string, { member, session, isFresh }: SignedIn): Promise<void> {
      if (!isFresh) throw new ApiError('passkey_required');
      if (!(await memberSessions.setPasskeyTime(id, member._id, session.passkeyAt))) throw endedLoginError();
    },

    /** Ends a login of this member. Idempotent. */
    end: (id: string, memberId: string): Promise<void> => memberSessions.endDevice(id, memberId),
  };
}
