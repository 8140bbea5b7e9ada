import type { FastifyRequest } from 'fastify';
import { memberName } from '../../../partners/members/member-name.ts';
import type { AdminContext } from '../../../platform/admin-api/procedures.ts';
import type { Actor } from '../../../platform/database/audit/audit-entry.ts';
import { noteFailure } from '../../../platform/http/answer-log.ts';
import { subscriberOf } from '../../../platform/http/limits/client-network.ts';
import { admitAuthenticated, leavePlace } from '../../../platform/http/limits/in-flight.ts';
import type { Browser } from '../browser.ts';
import type { PortalDependencies } from '../dependencies.ts';
import type { MemberSessions, SignedIn } from '../member-sessions.ts';
import { createInputBinding } from './bind-input.ts';

/** The most requests in a minute: of a member, and of an address without a signed-in member. */
export const requestsPerMinute = { member: 240, address: 60 };

/** The name in the audit log of a member who acts in the portal or by the program `svc`. */
const actorName = ({ member: { role }, session }: Acting): string =>
  `${memberName(role)}${session?.device ? ' by svc' : ''}`;

type Acting = Pick<SignedIn, 'member'> & Partial<Pick<SignedIn, 'session'>>;

/** A member as the actor of an audit entry. A member who signs in has no session yet. */
export const actorOf = (acting: Acting, { id, ip }: FastifyRequest, action: string): Actor => ({
  operatorId: acting.member._id,
  operatorName: actorName(acting),
  partnerId: acting.member.partnerId,
  action,
  requestId: id,
  address: ip,
});

export type MemberCalls = ReturnType<typeof createMemberCalls>;

export function createMemberCalls(
  { limit, recordCall, findForeign }: PortalDependencies,
  sessions: MemberSessions,
  browser: Browser,
) {
  const bindInput = createInputBinding(findForeign);

  /**
   * Counts a request against the limit of its member, or against the limit of its address if no member sent it. The request of a
   * member moves to a place of the partner.
   * @returns `signedIn` unchanged
   * @throws ApiError `rate_limited`, `service_unavailable`
   */
  async function count(
    request: FastifyRequest,
    signedIn: SignedIn | undefined,
  ): Promise<SignedIn | undefined> {
    if (signedIn) await admitAuthenticated(request, signedIn.member.partnerId);
    if (signedIn) await limit('portal member', signedIn.member._id, { perMinute: requestsPerMinute.member });
    else await limit('portal address', subscriberOf(request.ip), { perMinute: requestsPerMinute.address });
    return signedIn;
  }

  return {
    /**
     * Counts a request of a browser against its limit, and finds its member by the cookie.
     * @returns undefined if no member is signed in
     * @throws ApiError `rate_limited`
     */
    async admit(request: FastifyRequest): Promise<SignedIn | undefined> {
      const secret = browser.sessionOf(request);
      return count(request, secret === undefined ? undefined : await sessions.find('memberSession', secret));
    },

    /** Counts a request of a program, and finds its member by the token. @throws ApiError `rate_limited` */
    admitToken: async (request: FastifyRequest, token: string): Promise<SignedIn | undefined> =>
      count(request, await sessions.find('deviceToken', token)),

    /**
     * The context of the admin API for a member. `bindInput` limits the calls to those that `scope.ts` allows. The operator role
     * `ops` makes the procedures mask the personal data of users.
     */
    contextOf(request: FastifyRequest, signedIn: SignedIn): AdminContext {
      const { member, isFresh } = signedIn;
      const { _id: id, partnerId, role } = member;
      return {
        operator: { id, name: actorName(signedIn), role: 'ops', partnerId },
        requestId: request.id,
        address: request.ip,
        failed: (error) => noteFailure(request, error),
        recordCall,
        leavePlace: () => leavePlace(request),
        bindInput: (path, input) => bindInput({ memberId: id, partnerId, role, isFresh }, path, input),
      };
    },
  };
}
