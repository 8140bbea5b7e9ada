import type { FastifyRequest } from 'fastify';
import type { AdminContext } from '../platform/admin-api/procedures.ts';
import { ApiError } from '../platform/errors.ts';
import { noteFailure, notePartner } from '../platform/http/answer-log.ts';
import { subscriberOf } from '../platform/http/client-network.ts';
import type { RequestLimit } from '../platform/http/request-limits.ts';
import type { BindInput } from './bind-input.ts';
import type { Browser } from './browser.ts';
import type { SignedIn, SignIn } from './sign-in.ts';

/** Requests a minute: of a member, and of an address where no member is signed in. */
export const requestsPerMinute = { member: 240, address: 60 };

interface Dependencies {
  signIn: SignIn;
  browser: Browser;
  bindInput: BindInput;
  limit: RequestLimit;
  recordCall: NonNullable<AdminContext['recordCall']>;
}

export type MemberCalls = ReturnType<typeof createMemberCalls>;

/** Who sends a request, and as whom its calls are made. */
export function createMemberCalls({ signIn, browser, bindInput, limit, recordCall }: Dependencies) {
  async function count(name: string, id: string, max: number): Promise<void> {
    const { allowed, retryAfter } = await limit(name, id, max);
    if (!allowed) throw new ApiError('rate_limited', { retryAfter });
  }

  return {
    /** @throws ApiError `rate_limited` */
    async find(request: FastifyRequest): Promise<SignedIn | undefined> {
      const found = await signIn.find(browser.sessionOf(request));
      if (!found) {
        await count('portal address', subscriberOf(request.ip), requestsPerMinute.address);
        return undefined;
      }
      notePartner(request, found.member.partnerId);
      await count('portal member', found.member._id, requestsPerMinute.member);
      return found;
    },

    /** The context of the admin API for a member: the scope decides, and personal data are masked. */
    contextOf(request: FastifyRequest, { member, isFresh }: SignedIn): AdminContext {
      const { _id: id, partnerId, role } = member;
      return {
        operator: { id, name: `member (${role})`, role: 'ops', partnerId },
        requestId: request.id,
        address: request.ip,
        failed: (error) => noteFailure(request, error),
        recordCall,
        bindInput: (path, input) => bindInput({ memberId: id, partnerId, role, isFresh }, path, input),
      };
    },
  };
}
