import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../platform/errors.ts';
import { notePartner } from '../platform/http/answer-log.ts';
import { issueToken } from '../platform/http/csrf.ts';
import type { Browser } from './browser.ts';
import type { MemberCalls } from './member-calls.ts';
import type { Member } from './member-store.ts';
import type { Responses } from './responses.ts';
import type { SignIn } from './sign-in.ts';

interface Dependencies {
  signIn: SignIn;
  browser: Browser;
  calls: MemberCalls;
  responses: Responses;
  /** Writes the audit entry of a sign-in. */
  noteSignIn: (member: Member, request: FastifyRequest) => Promise<void>;
}

const text = (body: unknown, field: string): string => {
  const value = (body as Record<string, unknown> | undefined)?.[field];
  return typeof value === 'string' ? value : '';
};

/** The page to show after the sign-in. Only paths of the portal are accepted, all others become the first page. */
const nextIn = (value: string): string =>
  /^\/[\w/.-]{0,200}$/.test(value) && !value.includes('//') ? value : '/';

/** Sign-in, invitation and sign-out: the pages that need no session. */
export function passkeyRoutes({
  signIn,
  browser,
  calls,
  responses,
  noteSignIn,
}: Dependencies): FastifyPluginAsync {
  const { root } = browser;

  function showSignIn(request: FastifyRequest, reply: FastifyReply, error?: ApiError) {
    const nonce = browser.nonceOf(request, reply);
    const given = request.method === 'GET' ? request.query : request.body;
    return responses.send(request, reply, 'sign-in', {
      status: error?.status ?? 200,
      passkey: JSON.stringify(signIn.requestOptions(nonce)),
      csrf: issueToken(nonce),
      next: nextIn(text(given, 'next')),
      again: text(given, 'again') === '1',
      failed: error !== undefined,
    });
  }

  async function showInvitation(request: FastifyRequest, reply: FastifyReply, error?: ApiError) {
    const { secret } = request.params as { secret: string };
    const nonce = browser.nonceOf(request, reply);
    const { member, options } = await signIn.creationOptions(secret, nonce);
    return responses.send(request, reply, 'invitation', {
      status: error?.status ?? 200,
      passkey: JSON.stringify(options),
      csrf: issueToken(nonce),
      email: member.email ?? '',
      role: member.role,
      secret,
      failed: error !== undefined,
    });
  }

  const isRejection = (error: unknown): error is ApiError =>
    error instanceof ApiError && error.code === 'unauthorized';

  return async (scope) => {
    scope.get('/sign-in', async (request, reply) => {
      await calls.find(request);
      return showSignIn(request, reply);
    });

    scope.post('/sign-in', async (request, reply) => {
      const earlier = await calls.find(request);
      const nonce = browser.nonceOf(request, reply);
      browser.requireOwnForm(request, nonce);
      try {
        const { member, secret } = await signIn.signIn(text(request.body, 'answer'), nonce);
        notePartner(request, member.partnerId);
        await noteSignIn(member, request);
        if (earlier) await signIn.end(earlier.secret);
        browser.setSession(reply, secret);
      } catch (error) {
        if (!isRejection(error)) throw error;
        return showSignIn(request, reply, error);
      }
      return reply.redirect(`${root}${nextIn(text(request.body, 'next'))}`, 303);
    });

    scope.get('/invitations/:secret', async (request, reply) => {
      await calls.find(request);
      return showInvitation(request, reply);
    });

    scope.post('/invitations/:secret', async (request, reply) => {
      await calls.find(request);
      const nonce = browser.nonceOf(request, reply);
      browser.requireOwnForm(request, nonce);
      const { secret: invitation } = request.params as { secret: string };
      const call = { requestId: request.id, address: request.ip };
      try {
        const answer = text(request.body, 'answer');
        const { member, secret } = await signIn.accept({ secret: invitation, nonce, answer }, call);
        notePartner(request, member.partnerId);
        browser.setSession(reply, secret);
      } catch (error) {
        if (!isRejection(error)) throw error;
        return showInvitation(request, reply, error);
      }
      return reply.redirect(`${root}/`, 303);
    });

    scope.post('/sign-out', async (request, reply) => {
      const found = await calls.find(request);
      if (found) {
        browser.requireOwnForm(request, found.secret);
        await signIn.end(found.secret);
      }
      browser.clearSession(reply);
      return reply.redirect(`${root}/sign-in`, 303);
    });
  };
}
