import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../platform/errors.ts';
import { notePartner } from '../../platform/http/answer-log.ts';
import { issueToken } from '../../platform/http/browser/csrf.ts';
import type { SignedIn } from './member-sessions.ts';
import type { PortalParts } from './parts.ts';

const text = (fields: unknown, name: string): string => {
  const value = (fields as Record<string, unknown> | undefined)?.[name];
  return typeof value === 'string' ? value : '';
};

/** No part of a path may begin with a dot, because `..` leads above `/portal`. */
const plainAddress = /^(\/|(\/\w[\w.-]*)+)(\?[\w.~%&=+:*-]+)?$/;

/**
 * The path of the page to show after the sign-in, with its search. A value that is not a plain address below `/portal` becomes the
 * first page.
 */
const nextIn = (fields: unknown): string => {
  const address = text(fields, 'next');
  return address.length <= 500 && plainAddress.test(address) ? address : '/';
};

/** The secret of an invitation in the form, alone or in a pasted link. */
const invitationIn = ({ body }: FastifyRequest): string => {
  const typed = text(body, 'code');
  return /svc_invite_\w+/.exec(typed)?.[0] ?? typed;
};

/** Whether the passkey was not accepted. The page that asked for it is then shown again. */
const isRejection = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code === 'unauthorized';

/** Sign-in, invitation and sign-out: the pages that need no session. */
export function passkeyRoutes(parts: PortalParts): FastifyPluginAsync {
  const { signIn, sessions, browser, calls, responses, partnerName, inviterOf, noteSignIn } = parts;
  const { root } = browser;

  /** Shows the sign-in page. @param error the rejection of a passkey, after which the page is shown again */
  function showSignIn(request: FastifyRequest, reply: FastifyReply, error?: ApiError) {
    const nonce = browser.nonceOf(request, reply);
    const fields = request.method === 'GET' ? request.query : request.body;
    const values = {
      passkey: JSON.stringify(signIn.requestOptions(nonce)),
      csrf: issueToken(nonce),
      next: nextIn(fields),
      // The link of a refused change has this field. The page then says that the change needs a new use of the passkey.
      again: text(fields, 'again') === '1',
      failed: error !== undefined,
    };
    return responses.send(request, reply, 'sign-in', values, {
      status: error?.status ?? 200,
      hasPasskey: true,
    });
  }

  /** Shows the page of an invitation. @param error the rejection of a new passkey, after which the page is shown again */
  async function showInvitation(request: FastifyRequest, reply: FastifyReply, error?: ApiError) {
    const secret = invitationIn(request);
    const nonce = browser.nonceOf(request, reply);
    const { member, options } = await signIn.creationOptions(secret, nonce);
    const values = {
      passkey: JSON.stringify(options),
      csrf: issueToken(nonce),
      company: await partnerName(member.partnerId),
      email: member.email ?? '',
      role: member.invitation?.role ?? member.role,
      inviter: await inviterOf(member),
      secret,
      failed: error !== undefined,
    };
    return responses.send(request, reply, 'invitation', values, {
      status: error?.status ?? 200,
      hasPasskey: true,
    });
  }

  /** Signs the browser in, and ends the previous login of the browser, which may be another member's. */
  async function startSession(reply: FastifyReply, secret: string, previousLogin: SignedIn | undefined) {
    // The cookie comes first, so that it is sent even if the previous login cannot be ended. An invitation would else be lost.
    browser.setSession(reply, secret);
    if (previousLogin) await sessions.end(previousLogin.secret);
  }

  return async (scope) => {
    scope.get('/sign-in', async (request, reply) => {
      await calls.admit(request);
      return showSignIn(request, reply);
    });

    scope.post('/sign-in', async (request, reply) => {
      const previousLogin = await calls.admit(request);
      const nonce = browser.nonceOf(request, reply);
      browser.requireOwnForm(request, nonce);
      try {
        const { member, secret } = await signIn.signIn(text(request.body, 'answer'), nonce);
        notePartner(request, member.partnerId);
        await noteSignIn(member, request);
        await startSession(reply, secret, previousLogin);
      } catch (error) {
        if (!isRejection(error)) throw error;
        return showSignIn(request, reply, error);
      }
      return reply.redirect(`${root}${nextIn(request.body)}`, 303);
    });

    // The fragment of the link has the secret, and a browser sends no fragment. So a script or the person sends it by this page.
    scope.get('/invitations', async (request, reply) => {
      await calls.admit(request);
      const csrf = issueToken(browser.nonceOf(request, reply));
      return responses.send(request, reply, 'invitation-code', { csrf }, { hasPasskey: true });
    });

    scope.post('/invitations', async (request, reply) => {
      const previousLogin = await calls.admit(request);
      const nonce = browser.nonceOf(request, reply);
      browser.requireOwnForm(request, nonce);
      // The form with the code has no field for the answer of a passkey yet.
      if (!Object.hasOwn(request.body ?? {}, 'answer')) return showInvitation(request, reply);
      const answer = text(request.body, 'answer');
      try {
        // Also writes the audit entry.
        const { member, secret } = await signIn.accept(
          { secret: invitationIn(request), nonce, answer },
          { requestId: request.id, address: request.ip },
        );
        notePartner(request, member.partnerId);
        await startSession(reply, secret, previousLogin);
      } catch (error) {
        if (!isRejection(error)) throw error;
        return showInvitation(request, reply, error);
      }
      return reply.redirect(`${root}/`, 303);
    });

    scope.post('/sign-out', async (request, reply) => {
      const signedIn = await calls.admit(request);
      if (signedIn) {
        browser.requireOwnForm(request, signedIn.secret);
        await sessions.end(signedIn.secret);
      }
      browser.clearSession(reply);
      return reply.redirect(`${root}/sign-in`, 303);
    });
  };
}
