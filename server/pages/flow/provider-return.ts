import { ApiError } from '../../platform/errors.ts';
import { sha256 } from '../../platform/ids.ts';
import type { Session } from '../../sessions/session.ts';
import type { BrowserContext } from '../../sessions/session-access.ts';
import { type AuthorizationRequest, parseState } from '../../sessions/sources/authorization-request.ts';
import { stepOf } from '../../sessions/steps.ts';
import { returned, spentAttempts } from '../../sessions/transitions.ts';
import type { FlowParts } from './parts.ts';

export function createProviderReturn(parts: FlowParts) {
  const { sessionAccess, authentication, authorizationRequests, sourceOf, clock } = parts;
  const { move, authenticate } = authentication;

  /**
   * The authorization request that a response answers. Undefined if the response is late or repeated: it changes nothing.
   * @param secret the secret that the browser's cookie held when it left for the provider
   * @throws ApiError `cross_site_request` if this browser did not begin this authorization request
   */
  function openRequestOf(
    session: Session,
    { device }: BrowserContext,
    { state, source, secret }: { state: string; source: string; secret: string },
  ): AuthorizationRequest | undefined {
    if (stepOf(session, clock.now()) !== 'authenticate') return undefined;
    // The session continues on the phone.
    if (device === 'computer' && session.handoff?.state === 'claimed') return undefined;
    // The same response is being handled: it has rotated the cookie, and still waits for the source.
    if (spentAttempts(session.carried).includes(parseState(state)?.id ?? '')) return undefined;
    const turn = session.methods?.turn;
    const request = authorizationRequests.resume({ sessionId: session._id, device, secret, turn }, state);
    // Since this tab left for the provider, another tab has started a hand-off or has chosen another method.
    if (!request && (session.handoff || session.methods)) return undefined;
    if (!request || session.source !== source) throw new ApiError('cross_site_request');
    return request;
  }

  /**
   * Handles the authorization response that a browser brings back. A response is used once.
   * @returns the secret that the browser's cookie must hold from now on
   * @throws ApiError `unauthorized` in another browser, `cross_site_request` if this browser did not begin this authorization request
   */
  async function handleReturn(
    browser: BrowserContext,
    { source, answer }: { source: string; answer: URLSearchParams },
  ): Promise<string> {
    const state = answer.get('state') ?? '';
    // An attacker who began the session knows the state, but not the code that the provider gave to this browser.
    const token = `${state}.${answer.get('code') ?? ''}`;
    const { session, secret, isCurrent } = await sessionAccess.authorizeForm(browser, token);
    const { finish } = sourceOf(session);
    // The response has rotated the cookie before, or the user has chosen a source that sends no responses.
    if (!isCurrent || !finish) return secret;
    const request = openRequestOf(session, browser, { state, source, secret });
    if (!request) return secret;
    const renewed = sessionAccess.rotatedSecret(browser, secret, token);
    const arrival = { attemptId: request.id, device: browser.device, hash: sha256(renewed) };
    // Stored before the source is asked, so that no other request can use the response meanwhile.
    const arrived = await move(session, returned(session, arrival, new Date(clock.now())));
    const outcome = arrived && (await finish(answer, request));
    const moved = outcome && (await authenticate({ session: arrived, browser, renewed }, outcome));
    return (await sessionAccess.afterRotation(moved, { browser, renewed, token })).secret;
  }

  return handleReturn;
}
