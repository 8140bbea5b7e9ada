import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../platform/errors.ts';
import type { Visit, Visits } from '../browser/session-access.ts';
import { returned, spentAttempts, stageOf } from '../session/transitions.ts';
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

/** Milliseconds that a return may be under way, its source's timeout and the rest; and between two polls of it. */
const twin = { most: 16_000, pause: 250 };

/** Takes browsers back from the sites of sources. */
export function createProviderReturn({ visits, authentication, attempts, sourceOf, clock }: Dependencies) {
  const { move, authenticate } = authentication;

  /**
   * Takes what a browser brought back from the site of the session's source. Each attempt counts once; one that
   * comes too late, or while the session goes on elsewhere, does nothing.
   * @returns the secret that the browser's cookie must hold from now on
   * @throws ApiError `unauthorized` in another browser, `cross_site_request` where this browser never left like that
   */
  async function comeBack(visit: Visit, back: { source: string; answer: URLSearchParams }): Promise<string> {
    const state = back.answer.get('state') ?? '';
    // Whoever began the session knows its state; the provider's code is known to the browser alone that came back.
    const token = `${state}.${back.answer.get('code') ?? ''}`;
    const { session, secret, own } = await visits.enter(visit, token);
    const { finish } = sourceOf(session);
    if (!own || stageOf(session, clock.now()) !== 'authenticate' || !finish) return secret;
    if (visit.device === 'computer' && session.handoff?.state === 'taken') return secret;
    const attempt = attempts.resume({ sessionId: session._id, device: visit.device, secret }, state);
    // It left before it asked for the phone, in another tab: its cookie has been rotated since.
    if (!attempt && session.handoff) return secret;
    if (!attempt || session.source !== back.source) throw new ApiError('cross_site_request');
    const isSpent = spentAttempts(session.carried).includes(attempt.id);
    const mine = isSpent
      ? undefined
      : await move(session, returned(session, attempt.id, new Date(clock.now())));
    if (!mine) return outcomeOfTwin(visit, token, attempt.id);
    const outcome = await finish(back.answer, attempt);
    const renewed = outcome.kind === 'failed' ? secret : visits.renewed(visit, secret, token);
    const moved = await authenticate({ session: mine, visit, renewed }, outcome);
    return moved ? renewed : (await visits.enter({ ...visit, secret }, token)).secret;
  }

  /**
   * Another request brought the same return. Its browser may have given that one up, for a reload: the cookie that it
   * ends with has to come from here.
   */
  async function outcomeOfTwin(visit: Visit, token: string, attemptId: string): Promise<string> {
    for (;;) {
      const { session, secret } = await visits.enter(visit, token);
      const since = session.timeline.findLast(({ event }) => event === 'returned')?.at.getTime() ?? 0;
      const underWay =
        stageOf(session, clock.now()) === 'authenticate' &&
        spentAttempts(session.carried).includes(attemptId) &&
        clock.now() - since < twin.most;
      if (!underWay) return secret;
      await sleep(twin.pause);
    }
  }

  return comeBack;
}
