import { isDuplicateKey } from '../../platform/database/failures.ts';
import { ApiError } from '../../platform/errors.ts';
import { isWellFormedSecret, randomSecret, sha256 } from '../../platform/ids.ts';
import type { MemberSession } from '../member-session-store.ts';
import type { Member } from '../member-store.ts';
import { freshForMs, type SignedIn, sessionLifetimeMs } from '../sign-in.ts';
import type { PortalStores } from '../store.ts';
import type { DeviceRequest } from './device-request-store.ts';
import { randomUserCode, readUserCode, shownUserCode, userCodeDigest } from './user-code.ts';

/** The time in which a login request can be confirmed and used, in milliseconds. */
export const requestLifetimeMs = 10 * 60_000;
/** Seconds between two polls. Each poll that comes too early adds as many (RFC 8628 3.5). */
export const pollInterval = 5;
/** The most logins that a member may have at a time. */
export const mostLogins = 20;

interface Dependencies {
  stores: PortalStores;
  clock: { now(): number };
  /** The HMAC key for user codes, of which only hashes are stored. */
  idKey: Uint8Array;
  isSuspended: (partnerId: string) => Promise<boolean>;
}

/** The session of a program. */
export type DeviceSession = MemberSession & Required<Pick<MemberSession, 'device'>>;

export type DeviceLogins = ReturnType<typeof createDeviceLogins>;

const isOfDevice = (session: MemberSession): session is DeviceSession => session.device !== undefined;

const noSuchCode = () =>
  new ApiError('not_found', {
    description: 'No login waits for this code: it is wrong, used, or older than 10 minutes',
  });
const endedRequest = () =>
  new ApiError('invalid_grant', { description: 'Unknown or used device code: start again' });

/** Signs in programs of members that have no browser (RFC 8628). The methods throw ApiError. */
export function createDeviceLogins({ stores, clock, idKey, isSuspended }: Dependencies) {
  const { members, memberSessions, deviceRequests } = stores;

  const digestOf = (typed: string): string => {
    const code = readUserCode(typed);
    if (code === undefined) throw noSuchCode();
    return userCodeDigest(idKey, code);
  };

  /** Whether the login still has the scope that was confirmed. */
  async function isValid(member: Member | undefined, role: string): Promise<boolean> {
    return member?.status === 'active' && member.role === role && !(await isSuspended(member.partnerId));
  }

  async function begin({ name, address, confirmation }: DeviceRequest) {
    if (!confirmation) throw endedRequest();
    const { memberId, partnerId, role, passkeyAt, credentialId } = confirmation;
    const now = clock.now();
    const token = randomSecret('deviceToken');
    const expiresAt = new Date(now + sessionLifetimeMs);
    await memberSessions.insert({
      _id: sha256(token),
      memberId,
      partnerId,
      passkeyAt,
      expiresAt,
      createdAt: new Date(now),
      device: { name, address, role },
    });
    // A change of the member ends existing sessions, but may have come before this session was stored.
    const member = await members.find(memberId);
    if (member?.passkey?.credentialId === credentialId && (await isValid(member, role)))
      return { token, role, expiresAt };
    await memberSessions.end(sha256(token));
    throw new ApiError('device_login_denied', { description: 'The membership has changed: start again' });
  }

  const unexpired = (found: readonly MemberSession[]): DeviceSession[] =>
    found.filter(isOfDevice).filter(({ expiresAt }) => expiresAt.getTime() > clock.now());

  /** @returns the logins of a member that have not expired, newest first */
  const listOf = async (memberId: string) => unexpired(await memberSessions.listOf(memberId));

  return {
    listOf,
    /** The logins of all members of a partner, newest first. */
    listOfPartner: async (partnerId: string) => unexpired(await memberSessions.devicesOfPartner(partnerId)),

    /** Starts a login request. @returns both codes, as the program shows them */
    async start({ name, address }: { name: string; address: string }) {
      for (;;) {
        const now = clock.now();
        const deviceCode = randomSecret('deviceCode');
        const userCode = randomUserCode();
        const expiresAt = new Date(now + requestLifetimeMs);
        try {
          await deviceRequests.insert({
            _id: sha256(deviceCode),
            userCode: userCodeDigest(idKey, userCode),
            status: 'pending',
            name,
            address,
            interval: pollInterval,
            createdAt: new Date(now),
            expiresAt,
          });
          return { deviceCode, userCode: shownUserCode(userCode) };
        } catch (error) {
          // Another request has the same user code, so try another one.
          if (!isDuplicateKey(error)) throw error;
        }
      }
    },

    /**
     * Answers a poll. If the request is confirmed, uses it and makes the session.
     * @throws ApiError `authorization_pending`, `slow_down`, `expired_token`, `device_login_denied`, `invalid_grant`
     */
    async poll(deviceCode: string) {
      if (!isWellFormedSecret('deviceCode', deviceCode)) throw endedRequest();
      const now = clock.now();
      const request = await deviceRequests.poll(sha256(deviceCode), new Date(now));
      if (!request || request.status === 'used') throw endedRequest();
      if (request.expiresAt.getTime() <= now) throw new ApiError('expired_token');
      if (request.polledAt && now - request.polledAt.getTime() < request.interval * 1000) {
        await deviceRequests.slowDown(request._id, pollInterval);
        throw new ApiError('slow_down', { retryAfter: request.interval + pollInterval });
      }
      if (request.status === 'denied') throw new ApiError('device_login_denied');
      if (request.status === 'pending') throw new ApiError('authorization_pending');
      if (!(await deviceRequests.use(request._id))) throw endedRequest();
      return begin(request);
    },

    /** The request that waits for a code. @throws ApiError `not_found` */
    async show(typed: string): Promise<DeviceRequest> {
      const request = await deviceRequests.findPending(digestOf(typed), new Date(clock.now()));
      if (!request) throw noSuchCode();
      return request;
    },

    /** @throws ApiError `passkey_required`, `refused`, `not_found` */
    async confirm(typed: string, { member, session, isFresh }: SignedIn): Promise<void> {
      if (!isFresh) throw new ApiError('passkey_required');
      if ((await listOf(member._id)).length >= mostLogins)
        throw new ApiError('refused', { description: `You have ${mostLogins} logins: end one first` });
      const { _id: memberId, partnerId, role } = member;
      const { passkeyAt } = session;
      const credentialId = member.passkey?.credentialId ?? '';
      const confirmation = { memberId, partnerId, role, passkeyAt, credentialId };
      if (!(await deviceRequests.confirm(digestOf(typed), new Date(clock.now()), confirmation)))
        throw noSuchCode();
    },

    /** @throws ApiError `not_found` */
    async deny(typed: string): Promise<void> {
      if (!(await deviceRequests.deny(digestOf(typed), new Date(clock.now())))) throw noSuchCode();
    },

    /** The member of a token; undefined for an invalid token. If the member has changed, the token becomes invalid permanently. */
    async find(token: string): Promise<SignedIn | undefined> {
      if (!isWellFormedSecret('deviceToken', token)) return undefined;
      const session = await memberSessions.find(sha256(token));
      const now = clock.now();
      if (!session?.device || session.expiresAt.getTime() <= now) return undefined;
      const member = await members.find(session.memberId);
      if (!member || !(await isValid(member, session.device.role))) {
        await memberSessions.end(session._id);
        return undefined;
      }
      return { member, session, secret: token, isFresh: now - session.passkeyAt.getTime() < freshForMs };
    },

    /** Lets a program change secrets for as long as this browser may. @throws ApiError `passkey_required`, `not_found` */
    async allowChanges(id: string, { member, session, isFresh }: SignedIn): Promise<void> {
      if (!isFresh) throw new ApiError('passkey_required');
      if (!(await memberSessions.renewPasskey({ id, memberId: member._id }, session.passkeyAt)))
        throw new ApiError('not_found', { description: 'This login has ended' });
    },

    /** Ends a login of this member. Idempotent. */
    end: (id: string, memberId: string): Promise<void> => memberSessions.endOf({ id, memberId }),

    /** Ends the logins of all members of a partner. */
    endAllOfPartner: memberSessions.endDevicesOfPartner,
  };
}
