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

/** Handles browsers that return from the site of a verification source. */
export function createProviderReturn({
  sessionAccess,
  authentication,
  authorizationRequests,
  sourceOf,
  clock,
}: Dependencies) {
  const { move, authenticate } = authentication;

  /**
   * Handles the authorization response that a browser brings back. A response is used once. A response that is late,
   * or that comes while the session continues on the phone, changes nothing.
   * @returns the secret that the browser's cookie must hold from now on
   * @throws ApiError `unauthorized` in another browser, `cross_site_request` if this browser did not begin this authorization request
   */
  async function handleReturn(
    browser: BrowserContext,
    { source, answer }: { source: string; answer: URLSearchParams },
  ): Promise<string> {
    const state = answer.get('state') ?? '';
    // The browser that began the session knows only the state. The browser that returns also knows the provider's code.
    const token = `${state}.${answer.get('code') ?? ''}`;
    const { session, secret, isCurrent } = await sessionAccess.authorizeForm(browser, token);
    const { finish } = sourceOf(session);
    if (!isCurrent || stepOf(session, clock.now()) !== 'authenticate' || !finish) return secret;
    if (browser.device === 'computer' && session.handoff?.state === 'claimed') return secret;
    // A repeated return: the first one has rotated the cookie, and still waits for the source.
    if (spentAttempts(session.carried).includes(authorizationRequests.idOf(state))) return secret;
    const attempt = authorizationRequests.resume(
      { sessionId: session._id, device: browser.device, secret, turn: session.methods?.turn },
      state,
    );
    // Since this tab left for the provider, another tab has started a hand-off or has chosen another method.
    if (!attempt && (session.handoff || session.methods)) return secret;
    if (!attempt || session.source !== source) throw new ApiError('cross_site_request');
    const renewed = sessionAccess.rotated(browser, secret, token);
    const arrival = { attemptId: attempt.id, device: browser.device, hash: sha256(renewed) };
    const arrived = await move(session, returned(session, arrival, new Date(clock.now())));
    const outcome = arrived && (await finish(answer, attempt));
    const moved = outcome && (await authenticate({ session: arrived, browser, renewed }, outcome));
    return (await sessionAccess.afterRotation(moved, { browser, renewed, token })).secret;
  }

  return handleReturn;
}
