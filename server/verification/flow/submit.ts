import { ApiError } from '../../platform/errors.ts';
import { isTokenOf } from '../../platform/http/csrf.ts';
import { sha256 } from '../../platform/ids.ts';
import type { Keyring } from '../../platform/keys/keyring.ts';
import type { BrowserContext, SessionAccess } from '../browser/session-access.ts';
import type { DeviceName } from '../handoff/devices.ts';
import { handoffCancelled, handoffConfirmed, handoffOffered } from '../handoff/handoff.ts';
import type { SessionPasskeys } from '../passkeys/session-passkeys.ts';
import type { Enrolling } from '../people/enroll.ts';
import { isChoosing, methodChosen, methodLeft } from '../session/methods.ts';
import type { Outbox } from '../session/outbox.ts';
import type { Session } from '../session/session.ts';
import { formVersionOf, isLive, stepOf } from '../session/steps.ts';
import { consented, failed } from '../session/transitions.ts';
import { type OfferedTo, type SourceOf, sourceSession } from '../sources/session-source.ts';
import type { Authenticated, Failed } from '../sources/source.ts';
import type { Authentication } from './authenticate.ts';

export const decisions = [
  'accept',
  'decline',
  'cancel',
  'phone',
  'stay',
  'confirm',
  'deny',
  'other-method',
  'no-passkey',
] as const;

export interface Submission {
  /** The version of the form. */
  step?: string | undefined;
  csrf?: string | undefined;
  decision?: (typeof decisions)[number] | undefined;
  /** The verification source that the user has chosen. */
  method?: string | undefined;
  /** The value `can` means that the browser can make a passkey. */
  passkey?: string | undefined;
  /** The fields of the verification source's own form. */
  input: Readonly<Record<string, string>>;
  /** `User-Agent` of the browser. */
  deviceName: DeviceName;
}

/** The result of a form. */
export interface Submitted {
  /** Undefined if another request changed the session first: it has to be read again. */
  session: Session | undefined;
  /** The secret that the browser's cookie must have from now on. */
  secret: string;
  /** Whether the form has issued the code. */
  isNew?: boolean;
  /** A cookie with its lifetime. While it lasts, this browser does not ask the user again to save a passkey. */
  mark?: { value: string; days: number };
}

/** A browser that has the session's secret. */
type Entered = BrowserContext & { secret: string };

interface Dependencies {
  sessionAccess: SessionAccess;
  authentication: Authentication;
  sourceOf: SourceOf;
  offeredTo: OfferedTo;
  enrolling: Pick<Enrolling, 'known'>;
  passkeys: Pick<SessionPasskeys, 'areAllowed'>;
  declinePasskey: (session: Session, secret: string) => Promise<Submitted>;
  outbox: Pick<Outbox, 'drain'>;
  keyring: Pick<Keyring, 'id'>;
  clock: { now(): number };
}

/**
 * With several methods, a verification that has already failed at the authentication counts as a failed method. The
 * user can then choose another method.
 */
function failMethodEarly({ methods }: Session, outcome: Authenticated | Failed): Authenticated | Failed {
  const answer = outcome.kind === 'authenticated' ? outcome.answer : undefined;
  return methods && answer?.kind === 'failed' ? answer : outcome;
}

const notOnPage = () =>
  new ApiError('invalid_request', { description: 'method must be one of the methods on the page' });

/** Handles the forms of the hosted pages. */
export function createSubmit(dependencies: Dependencies) {
  const { sessionAccess, authentication, sourceOf, offeredTo, enrolling } = dependencies;
  const { passkeys, declinePasskey, outbox, keyring, clock } = dependencies;
  const { move, authenticate } = authentication;
  const now = () => new Date(clock.now());

  /**
   * Handles a form. A form of an earlier step (back button, second tab, double click) changes nothing: the browser is
   * shown the present step.
   * @throws ApiError `unauthorized` in another browser, `cross_site_request` for a form that this browser was not shown
   */
  async function submit(browser: BrowserContext, form: Submission): Promise<Submitted> {
    const { csrf = '', decision } = form;
    const { session, secret, isCurrent } = await sessionAccess.authorizeForm(browser, csrf);
    const unchanged = { session, secret };
    const step = stepOf(session, clock.now());
    const isGenuine = isCurrent && isTokenOf(secret, csrf);
    if (isGenuine && (decision === 'cancel' || decision === 'deny') && isLive(step)) {
      return { session: await move(session, failed(session, 'abandoned', now())), secret };
    }
    const isStale = !isCurrent || (form.step !== undefined && form.step !== formVersionOf(session, step));
    if (isStale || !isLive(step)) return unchanged;
    if (!isGenuine) throw new ApiError('cross_site_request');
    if (browser.device === 'phone' && step === 'confirm')
      return { session: await confirm(session, form), secret };
    if (browser.device === 'computer' && step === 'consent')
      return { session: await decide(session, form), secret };
    if (step === 'issue' && decision === 'no-passkey') return declinePasskey(session, secret);
    if (step !== 'authenticate') return unchanged;
    const entered = { ...browser, secret };
    const submitted =
      (browser.device === 'computer' && (await chooseDevice(session, entered, form))) ||
      (await chooseMethod(session, entered, form));
    return submitted || authenticateByForm(session, entered, form);
  }

  /** @returns undefined if the form is not about the method */
  async function chooseMethod(
    session: Session,
    { secret }: Entered,
    { decision, method }: Submission,
  ): Promise<Submitted | undefined> {
    const { methods } = session;
    if (method === undefined && decision !== 'other-method') {
      if (isChoosing(session)) throw notOnPage();
      return undefined;
    }
    if (!methods) throw new ApiError('invalid_request', { description: 'There is no other method' });
    if (method === undefined) {
      if (isChoosing(session)) return { session, secret };
      return { session: await move(session, methodLeft(session, methods, now())), secret };
    }
    if (!offeredTo(session, clock.now()).some(({ name }) => name === method)) throw notOnPage();
    return { session: await move(session, methodChosen(session, methods, method, now())), secret };
  }

  /** Handles a form on a page of the source that this service renders. */
  async function authenticateByForm(
    session: Session,
    browser: Entered,
    { csrf = '', input }: Submission,
  ): Promise<Submitted> {
    const { authenticate: authenticateBySource } = sourceOf(session);
    if (!authenticateBySource)
      throw new ApiError('invalid_request', { description: 'This page takes no form' });
    const answered = await authenticateBySource(sourceSession(session, browser.language), input);
    const outcome = failMethodEarly(session, answered);
    const renewed =
      outcome.kind === 'failed' ? browser.secret : sessionAccess.rotated(browser, browser.secret, csrf);
    const moved = await authenticate({ session, browser, renewed }, outcome);
    return sessionAccess.afterRotation(moved, { browser, renewed, token: csrf });
  }

  async function decide(session: Session, form: Submission): Promise<Session | undefined> {
    const { decision } = form;
    if (decision === 'accept') {
      const canSave = form.passkey === 'can' && (await passkeys.areAllowed(session));
      return move(session, consented(now(), { canSave }));
    }
    if (decision === 'decline') return move(session, failed(session, 'consent_declined', now()));
    throw new ApiError('invalid_request', { description: 'decision must be accept, decline or cancel' });
  }

  async function confirm(session: Session, { decision }: Submission): Promise<Session | undefined> {
    const { handoff, userId } = session;
    if (decision !== 'confirm' || handoff?.state !== 'claimed' || !userId)
      throw new ApiError('cross_site_request');
    const browserHash = sha256(sessionAccess.confirmed(session));
    const who = { ...enrolling.known(session, userId), browserHash };
    const moved = await move(
      session,
      handoffConfirmed({ handoff, browserHash: session.browserHash }, who, now()),
    );
    // The enrollment's event is published now, because the computer may return much later.
    if (moved) outbox.drain(moved);
    return moved;
  }

  /**
   * While a phone has the session, the computer accepts no other form.
   * @returns undefined if the form is not about the device
   */
  async function chooseDevice(
    session: Session,
    browser: Entered,
    { decision, deviceName, csrf = '' }: Submission,
  ): Promise<Submitted | undefined> {
    const { handoff } = session;
    const { secret } = browser;
    if (decision === 'phone' && handoff?.state !== 'claimed') {
      const renewed = sessionAccess.rotated(browser, secret, csrf);
      const computer = { computer: deviceName, browserHash: sha256(renewed), at: now() };
      const offer = handoffOffered(keyring.id, session, computer);
      if (!offer) return { session, secret };
      return sessionAccess.afterRotation(await move(session, offer), { browser, renewed, token: csrf });
    }
    if (decision === 'stay' && handoff) {
      const isCancelled = handoff.state === 'cancelled';
      return {
        session: isCancelled ? session : await move(session, handoffCancelled(handoff, now())),
        secret,
      };
    }
    return handoff?.state === 'claimed' ? { session, secret } : undefined;
  }

  return submit;
}
