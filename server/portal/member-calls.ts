import type { FastifyRequest } from 'fastify';
import type { AdminContext } from '../platform/admin-api/procedures.ts';
import { ApiError } from '../platform/errors.ts';
import { noteFailure, notePartner } from '../platform/http/answer-log.ts';
import { subscriberOf } from '../platform/http/client-network.ts';
import type { RequestLimit } from '../platform/http/request-limits.ts';
import type { BindInput } from './bind-input.ts';
import type { Browser } from './browser.ts';
import type { DeviceLogins } from './device/device-logins.ts';
import type { SignedIn, SignIn } from './sign-in.ts';

/** Limits a minute: for a member, and for an address without a signed-in member. */
export const requestsPerMinute = { member: 240, address: 60 };

interface Dependencies {
  signIn: SignIn;
  logins: Pick<DeviceLogins, 'find'>;
  browser: Browser;
  bindInput: BindInput;
  limit: RequestLimit;
  recordCall: NonNullable<AdminContext['recordCall']>;
}

/** A member's name in the audit log. It is not the e-mail address, because audit entries are never deleted. */
export const actorName = ({ member: { role }, session }: Pick<SignedIn, 'member' | 'session'>): string =>
  `member (${role})${session.device ? ' by svc' : ''}`;

export type MemberCalls = ReturnType<typeof createMemberCalls>;

/** Finds the member of a request, and makes the context of the member's calls. */
export function createMemberCalls(dependencies: Dependencies) {
  const { signIn, logins, browser, bindInput, limit, recordCall } = dependencies;

  async function count(name: string, id: string, max: number): Promise<void> {
    const { allowed, retryAfter } = await limit(name, id, max);
    if (!allowed) throw new ApiError('rate_limited', { retryAfter });
  }

  /** Counts a request against the limit of its member, or against the limit of its address if no member sent it. */
  async function countRequest(request: FastifyRequest, signedIn: SignedIn | undefined): Promise<void> {
    if (!signedIn) return count('portal address', subscriberOf(request.ip), requestsPerMinute.address);
    notePartner(request, signedIn.member.partnerId);
    return count('portal member', signedIn.member._id, requestsPerMinute.member);
  }

  return {
    /** The member of a browser's cookie. @throws ApiError `rate_limited` */
    async find(request: FastifyRequest): Promise<SignedIn | undefined> {
      const signedIn = await signIn.find(browser.sessionOf(request));
      await countRequest(request, signedIn);
      return signedIn;
    },

    /** The member of a program's token. @throws ApiError `rate_limited` */
    async findByToken(request: FastifyRequest, token: string): Promise<SignedIn | undefined> {
      const signedIn = await logins.find(token);
      await countRequest(request, signedIn);
      return signedIn;
    },

    /** The context of the admin API for a member. The scope limits the calls, and personal data are masked. */
    contextOf(request: FastifyRequest, signedIn: SignedIn): AdminContext {
      const { member, isFresh } = signedIn;
      const { _id: id, partnerId, role } = member;
      return {
        operator: { id, name: actorName(signedIn), role: 'ops', partnerId },
        requestId: request.id,
        address: request.ip,
        failed: (error) => noteFailure(request, error),
        recordCall,
        bindInput: (path, input) => bindInput({ memberId: id, partnerId, role, isFresh }, path, input),
      };
    },
  };
}
