import { ApiError } from '../../platform/errors.ts';
import { sha256 } from '../../platform/ids.ts';
import type { BrowserContext, SessionAccess } from '../browser/session-access.ts';
import { stepOf } from '../session/steps.ts';
import { returned, spentAttempts } from '../session/transitions.ts';
import type { AuthorizationRequests } from '../sources/authorization-request.ts';
import type { SourceOf } from '../sources/session-source.ts';
import type { Authentication } from './authenticate.ts';

interface Dependencies {
  sessionAccess: SessionAccess;
  authentication: Authentication;
  authorizationRequests: AuthorizationRequests;
  sourceOf: SourceOf;
  clock: { now(): number };
}

/** Takes browsers back from the sites of sources. */
export function createProviderReturn({
  sessionAccess,
  authentication,
  authorizationRequests,
  sourceOf,
  clock,
}: Dependencies) {
  const { move, authenticate } = authentication;

  /**
   * Takes what a browser brought back from the site of the session's source. Each attempt counts once; one that
   * comes too late, or while the session goes on elsewhere, does nothing.
   * @returns the secret that the browser's cookie must hold from now on
   * @throws ApiError `unauthorized` in another browser, `cross_site_request` where this browser did not begin this authorization request
   */
  async function handleReturn(
    browser: BrowserContext,
    back: { source: string; answer: URLSearchParams },
  ): Promise<string> {
    const state = back.answer.get('state') ?? '';
    // The browser that began the session knows its state; only the browser that came back knows the provider's code.
    const token = `${state}.${back.answer.get('code') ?? ''}`;
    const { session, secret, own } = await sessionAccess.authorizeForm(browser, token);
    const { finish } = sourceOf(session);
    if (!own || stepOf(session, clock.now()) !== 'authenticate' || !finish) return secret;
    if (browser.device === 'computer' && session.handoff?.state === 'claimed') return secret;
    // A repeated return while the source is asked: the cookie has been rotated.
    if (spentAttempts(session.carried).includes(authorizationRequests.idOf(state))) return secret;
    const attempt = authorizationRequests.resume(
      { sessionId: session._id, device: browser.device, secret, turn: session.methods?.turn },
      state,
    );
    // This tab left for the provider before another tab started the hand-off, which rotated the cookie, or chose another method.
    if (!attempt && (session.handoff || session.methods)) return secret;
    if (!attempt || session.source !== back.source) throw new ApiError('cross_site_request');
    const renewed = sessionAccess.rotated(browser, secret, token);
    const about = { attemptId: attempt.id, device: browser.device, hash: sha256(renewed) };
    const mine = await move(session, returned(session, about, new Date(clock.now())));
    const outcome = mine && (await finish(back.answer, attempt));
    const moved = outcome && (await authenticate({ session: mine, browser, renewed }, outcome));
    // Where another request of this browser was faster with the same return, it set the same secret.
    return moved ? renewed : (await sessionAccess.authorizeForm({ ...browser, secret }, token)).secret;
  }

  return handleReturn;
}
