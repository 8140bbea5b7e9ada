import { ApiError } from '../../platform/errors.ts';
import { sha256 } from '../../platform/ids.ts';
import type { Visit, Visits } from '../browser/session-access.ts';
import { stageOf } from '../session/steps.ts';
import { returned, spentAttempts } from '../session/transitions.ts';
import type { Attempts } from '../sources/authorization-request.ts';
import type { SourceOf } from '../sources/session-source.ts';
import type { Authentication } from './authenticate.ts';

interface Dependencies {
  visits: Visits;
  authentication: Authentication;
  attempts: Attempts;
  sourceOf: SourceOf;
  clock: { now(): number };
}

/** Takes browsers back from the sites of sources. */
export function createProviderReturn({ visits, authentication, attempts, sourceOf, clock }: Dependencies) {
  const { move, authenticate } = authentication;

  /**
   * Takes what a browser brought back from the site of the session's source. Each attempt counts once; one that
   * comes too late, or while the session goes on elsewhere, does nothing.
   * @returns the secret that the browser's cookie must hold from now on
   * @throws ApiError `unauthorized` in another browser, `cross_site_request` where this browser did not begin this authorization request
   */
  async function comeBack(visit: Visit, back: { source: string; answer: URLSearchParams }): Promise<string> {
    const state = back.answer.get('state') ?? '';
    // The browser that began the session knows its state; only the browser that came back knows the provider's code.
    const token = `${state}.${back.answer.get('code') ?? ''}`;
    const { session, secret, own } = await visits.enter(visit, token);
    const { finish } = sourceOf(session);
    if (!own || stageOf(session, clock.now()) !== 'authenticate' || !finish) return secret;
    if (visit.device === 'computer' && session.handoff?.state === 'taken') return secret;
    // A repeated return while the source is asked: the cookie has been rotated.
    if (spentAttempts(session.carried).includes(attempts.idOf(state))) return secret;
    const attempt = attempts.resume({ sessionId: session._id, device: visit.device, secret }, state);
    // It left before it asked for the phone, in another tab: its cookie has been rotated since.
    if (!attempt && session.handoff) return secret;
    if (!attempt || session.source !== back.source) throw new ApiError('cross_site_request');
    const renewed = visits.renewed(visit, secret, token);
    const about = { attemptId: attempt.id, device: visit.device, hash: sha256(renewed) };
    const mine = await move(session, returned(session, about, new Date(clock.now())));
    const outcome = mine && (await finish(back.answer, attempt));
    const moved = outcome && (await authenticate({ session: mine, visit, renewed }, outcome));
    // Where another request of this browser was faster with the same return, it set the same secret.
    return moved ? renewed : (await visits.enter({ ...visit, secret }, token)).secret;
  }

  return comeBack;
}
