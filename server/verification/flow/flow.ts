import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, unavailable } from '../../platform/errors.ts';
import { sha256 } from '../../platform/ids.ts';
import type { Keyring } from '../../platform/keyring.ts';
import { isTokenOf } from '../browser/csrf.ts';
import type { Visit, Visits } from '../browser/session-access.ts';
import type { DeviceName } from '../handoff/devices.ts';
import { confirmed, isOpen, linkAndCode, offered, withdrawn } from '../handoff/handoff.ts';
import type { Enrolling } from '../people/enroll.ts';
import {
  consented,
  failed,
  type Handoff,
  returned,
  type Session,
  type Stage,
  spentAttempts,
  stageOf,
  stepOf,
} from '../session/transitions.ts';
import type { Attempts } from '../sources/authorization-request.ts';
import type { Beginning, VerificationSource } from '../sources/source.ts';
import type { Arriving } from './authenticate.ts';
import type { Ending } from './complete.ts';
import type { Verifying } from './verify.ts';

export const decisions = ['accept', 'decline', 'cancel', 'phone', 'stay', 'confirm', 'deny'] as const;

export interface Submission {
  /** The stage that the form was made for. */
  step?: string | undefined;
  csrf?: string | undefined;
  decision?: (typeof decisions)[number] | undefined;
  /** What the verification source's page asked for. */
  input: Readonly<Record<string, string>>;
  /** What the browser says that it is. */
  browser: DeviceName;
}

/** What the browser gets to see: the page of the stage it is at, or the way back to the partner. */
export type View =
  | { kind: 'consent'; session: Session }
  | { kind: 'begin'; session: Session; beginning: Beginning }
  /** Link and code for the phone; neither once they have run out. */
  | { kind: 'handoff'; session: Session; shown: { token: string; code: string } | undefined }
  /** At the computer, while the phone goes on. */
  | { kind: 'waiting'; session: Session; handoff: Handoff }
  /** At the phone: is this your computer? */
  | { kind: 'confirm'; session: Session; handoff: Handoff }
  /** At the phone, when there is nothing left to do there. */
  | { kind: 'phone-over'; session: Session; well: boolean }
  /** `gently`: by a page, because the browser comes from a site whose forms may not lead on to the partner's. */
  | { kind: 'leave'; session: Session; url: string; gently: boolean };

/** The computer's cookie was rotated by the phone: the browser has to come back with the new one. */
export interface Renewal {
  kind: 'renew';
  session: Session;
  secret: string;
}

interface Dependencies {
  visits: Visits;
  arriving: Arriving;
  attempts: Attempts;
  sources: ReadonlyMap<string, VerificationSource>;
  enrolling: Pick<Enrolling, 'known' | 'settle'>;
  verify: Verifying;
  ending: Ending;
  keyring: Pick<Keyring, 'id'>;
  clock: { now(): number };
}

const triesAgainstOthers = 5;
/** Milliseconds that a return may be under way, its source's patience and the rest; and between two looks at it. */
const twin = { most: 16_000, pause: 250 };
const live: readonly Stage[] = ['consent', 'authenticate', 'confirm', 'verify', 'issue'];

/** The hosted flow (design, section 4): consent → authenticate → verify → redirect, at one or two devices. */
export function createFlow(dependencies: Dependencies) {
  const { visits, arriving, attempts, sources, enrolling, verify, ending, keyring, clock } = dependencies;
  const { move, arrive } = arriving;
  const now = () => new Date(clock.now());

  function sourceOf(session: Session): VerificationSource {
    const source = sources.get(session.source);
    if (!source) throw new Error(`session ${session._id} needs the verification source ${session.source}`);
    return source;
  }

  /** What comes next. Steps that need nobody are taken here, so a reload resumes what a crash cut short. */
  async function show(visit: Visit): Promise<View | Renewal> {
    for (let tries = 0; tries < triesAgainstOthers; tries += 1) {
      const session = await visits.read(visit);
      const latest = visits.outdated(session, visit);
      if (latest !== undefined) return { kind: 'renew', session, secret: latest };
      const stage = stageOf(session, clock.now());
      const view =
        visit.device === 'phone'
          ? await atPhone(session, stage, visit)
          : await atComputer(session, stage, visit);
      if (view) return view;
      if (stage === 'verify') await move(session, await verify(session, sourceOf(session)));
      else await move(session, await ending.issueCode(session));
    }
    throw unavailable(new Error(`session ${visit.sessionId} keeps changing`));
  }

  /** Undefined where the next step needs nobody. */
  async function atComputer(session: Session, stage: Stage, visit: Visit): Promise<View | undefined> {
    const gently = sourceOf(session).finish !== undefined;
    const detour = await ending.detour(session, stage);
    if (detour) return { kind: 'leave', session, url: detour, gently };
    const { handoff } = session;
    if (handoff?.state === 'taken' && live.includes(stage)) return { kind: 'waiting', session, handoff };
    switch (stage) {
      case 'consent':
        return { kind: 'consent', session };
      case 'authenticate':
        return handoff?.state === 'offered' ? offer(session, handoff) : begin(session, visit);
      case 'confirm':
        throw new Error(`session ${session._id} waits for a phone that it was not handed to`);
      case 'verify':
      case 'issue':
        return undefined;
      case 'completed':
        // Before the code is sent: the partner may ask for what the user has consented to as soon as it has that.
        if (session.enrollmentDueAt) await enrolling.settle(session);
        return { kind: 'leave', session, url: await ending.redirect(session, stage), gently };
      case 'failed':
      case 'expired':
      case 'over':
        return { kind: 'leave', session, url: await ending.redirect(session, stage), gently };
    }
  }

  async function atPhone(session: Session, stage: Stage, visit: Visit): Promise<View | undefined> {
    const { handoff } = session;
    if (!handoff) throw new ApiError('unauthorized');
    switch (stage) {
      case 'consent':
      case 'authenticate':
        return begin(session, visit);
      case 'confirm':
        return { kind: 'confirm', session, handoff };
      case 'verify':
        return undefined;
      case 'issue':
      case 'completed':
        return { kind: 'phone-over', session, well: true };
      case 'failed':
      case 'over':
        return { kind: 'phone-over', session, well: false };
      case 'expired':
        throw new ApiError('session_not_found');
    }
  }

  async function begin(session: Session, { device, secret = '', language }: Visit): Promise<View> {
    const attempt = attempts.begin({ sessionId: session._id, device, secret });
    return {
      kind: 'begin',
      session,
      beginning: await sourceOf(session).begin(known(session, language), attempt),
    };
  }

  function offer(session: Session, handoff: Handoff): View {
    const shown = isOpen(handoff, clock.now())
      ? linkAndCode(keyring.id, { _id: session._id, number: handoff.number })
      : undefined;
    return { kind: 'handoff', session, shown };
  }

  /**
   * Takes a form. One that was made for an earlier step (back button, second tab, double click) does nothing:
   * the browser is then shown where the session really is.
   * @returns the secret that the browser's cookie must hold from now on
   * @throws ApiError `unauthorized` in another browser, `cross_site_request` for a form that is not its own
   */
  async function submit(visit: Visit, form: Submission): Promise<string> {
    const { csrf = '', decision } = form;
    const { session, secret, own: current } = await visits.enter(visit, csrf);
    const stage = stageOf(session, clock.now());
    const own = current && isTokenOf(secret, csrf);
    if (own && (decision === 'cancel' || decision === 'deny') && live.includes(stage)) {
      await move(session, failed(session, 'abandoned', now()));
      return secret;
    }
    const stale = !current || (form.step !== undefined && form.step !== stepOf(session, stage));
    if (stale || !live.includes(stage)) return secret;
    if (!own) throw new ApiError('cross_site_request');
    if (visit.device === 'phone' && stage === 'confirm') await confirm(session, form);
    if (visit.device === 'computer' && stage === 'consent') await decide(session, form);
    if (stage !== 'authenticate') return secret;
    if (visit.device === 'computer') {
      const chosen = await chooseDevice(session, { ...visit, secret }, form);
      if (chosen !== undefined) return chosen;
    }
    const outcome = await sourceOf(session).resume(known(session, visit.language), form.input);
    if (outcome.kind === 'verified') throw new Error('a source verified somebody who has not authenticated');
    return arrive({ session, visit, secret, token: csrf }, outcome);
  }

  async function decide(session: Session, { decision }: Submission): Promise<void> {
    if (decision === 'accept') await move(session, consented(now()));
    else if (decision === 'decline') await move(session, failed(session, 'consent_declined', now()));
    else throw new ApiError('invalid_request', { description: 'decision must be accept, decline or cancel' });
  }

  async function confirm(session: Session, { decision }: Submission): Promise<void> {
    const { handoff, userId } = session;
    if (decision !== 'confirm' || handoff?.state !== 'taken' || !userId)
      throw new ApiError('cross_site_request');
    const browserHash = sha256(visits.confirmed(session));
    const who = { ...enrolling.known(session, userId), browserHash };
    await move(session, confirmed({ handoff, browserHash: session.browserHash }, who, now()));
  }

  /**
   * A computer whose session a phone has taken may do no more.
   * @returns the secret for its cookie, where the form was about the device
   */
  async function chooseDevice(
    session: Session,
    visit: Visit & { secret: string },
    { decision, browser, csrf = '' }: Submission,
  ): Promise<string | undefined> {
    const { handoff } = session;
    const { secret } = visit;
    if (decision === 'phone' && handoff?.state !== 'taken') {
      const renewed = visits.renewed(visit, secret, csrf);
      const about = { computer: browser, browserHash: sha256(renewed), at: now() };
      const offering = offered(keyring.id, session, about);
      if (!offering) return secret;
      if (await move(session, offering)) return renewed;
      return (await visits.enter(visit, csrf)).secret;
    }
    if (decision === 'stay' && handoff) {
      if (handoff.state !== 'withdrawn') await move(session, withdrawn(handoff, now()));
      return secret;
    }
    return handoff?.state === 'taken' ? secret : undefined;
  }

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
    const mine = isSpent ? undefined : await move(session, returned(session, attempt.id, now()));
    if (!mine) return outcomeOfTwin(visit, token, attempt.id);
    return arrive({ session: mine, visit, secret, token }, await finish(back.answer, attempt));
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

  return { show, submit, comeBack };
}

function known({ _id: id, partnerId, mode, carried, ...session }: Session, chosen: Visit['language']) {
  return { id, partnerId, mode, carried, language: chosen ?? session.language };
}
