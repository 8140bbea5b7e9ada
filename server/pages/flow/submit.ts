import { z } from 'zod';
import type { FailureReason } from '../../../contracts/verification.ts';
import { ApiError } from '../../platform/errors.ts';
import { isTokenOf } from '../../platform/http/browser/csrf.ts';
import { sha256 } from '../../platform/ids.ts';
import type { DeviceName } from '../../sessions/devices.ts';
import { handoffCancelled, handoffConfirmed, handoffOffered } from '../../sessions/hand-off/handoff.ts';
import { isChoosing, methodChosen, methodLeft } from '../../sessions/methods.ts';
import type { Session } from '../../sessions/session.ts';
import type { BrowserContext } from '../../sessions/session-access.ts';
import { sourceSession } from '../../sessions/sources/session-source.ts';
import type { Authenticated, Failed } from '../../sessions/sources/source.ts';
import { formVersionOf, isLive, stepOf } from '../../sessions/steps.ts';
import { consented, failed } from '../../sessions/transitions.ts';
import type { FlowParts } from './parts.ts';
import { type Decision, decisions, type FormName, stepTable } from './step-table.ts';

/** The form of a page. */
export const Form = z.object({
  /** The version of the form. */
  step: z.string().max(32).optional(),
  csrf: z.string().max(256).optional(),
  decision: z.enum(decisions).optional(),
  /** The verification source that the user has chosen. */
  method: z.string().max(64).optional(),
  /** One of the people of the sandbox. */
  person: z.string().max(64).optional(),
  /** `can` if the browser can make a passkey. */
  passkey: z.string().max(8).optional(),
});
type Submission = z.infer<typeof Form> & { deviceName: DeviceName };

export interface Submitted {
  /** Undefined if another request changed the session first: it has to be read again. */
  session: Session | undefined;
  /** The secret that the browser's cookie must have from now on. */
  secret: string;
  /** Whether the form has issued the code. */
  isNew?: boolean;
  /** The passkey mark, a cookie. While it lasts, this browser does not ask the user again to save a passkey. */
  mark?: { value: string; days: number };
}

type Entered = BrowserContext & { secret: string };
type HandleForm = (session: Session, browser: Entered, form: Submission) => Promise<Submitted>;

/**
 * Some sources verify the user in the same step as they authenticate them. If such a verification fails, the step `verify` would
 * end the session. In a session with several methods, only the method fails instead: the user can then choose another one.
 */
function failMethodEarly({ methods }: Session, outcome: Authenticated | Failed): Authenticated | Failed {
  const result = outcome.kind === 'authenticated' ? outcome.result : undefined;
  return methods && result?.kind === 'failed' ? result : outcome;
}

/** How often a refusal is tried when concurrent changes make it fail. */
const maxRefusalTries = 5;

/**
 * Why a session ends by a decision; undefined if the decision is no refusal. A user can refuse from a page of an earlier
 * step too, such as the one in another tab.
 * @param mayDecline whether the form can be that of the consent page
 */
function refusalBy(
  decision: Decision | undefined,
  { mayDecline }: { mayDecline: boolean },
): FailureReason | undefined {
  if (decision === 'cancel' || decision === 'deny') return 'abandoned';
  return decision === 'decline' && mayDecline ? 'consent_declined' : undefined;
}

const methodNotOnPage = () =>
  new ApiError('invalid_request', { description: 'method must be one of the methods on the page' });

export function createSubmit(
  parts: FlowParts,
  declinePasskey: (session: Session, secret: string) => Promise<Submitted>,
) {
  const { sessionAccess, authentication, sourceOf, offeredTo, enrolling } = parts;
  const { passkeys, outbox, keyring, clock } = parts;
  const { move, authenticate } = authentication;
  const now = () => new Date(clock.now());

  /**
   * Handles a form. A form of an earlier step (back button, second tab, double click) changes nothing, unless it refuses:
   * the browser is shown the present step.
   * @throws ApiError `unauthorized` in another browser, `cross_site_request` for a form that this browser was not shown
   */
  async function submit(
    browser: BrowserContext,
    form: Submission,
    tries = maxRefusalTries,
  ): Promise<Submitted> {
    const { csrf = '', decision } = form;
    const { session, secret, isCurrent } = await sessionAccess.authorizeForm(browser, csrf);
    const unchanged = { session, secret };
    const step = stepOf(session, clock.now());
    if (!isLive(step)) return unchanged;
    const isOfEarlierStep = form.step !== undefined && form.step !== formVersionOf(session, step);
    const reason = refusalBy(decision, { mayDecline: isOfEarlierStep || step === 'consent' });
    if (reason && sessionAccess.mayRefuse(browser, secret, csrf)) {
      const moved = await move(session, failed(session, reason, now()));
      // Another tab was faster. The user has refused all the same, so the refusal applies to the next step.
      return moved || tries <= 1 ? { session: moved, secret } : submit(browser, form, tries - 1);
    }
    // The same form was handled before.
    if (!isCurrent || isOfEarlierStep) return unchanged;
    if (!isTokenOf(secret, csrf)) throw new ApiError('cross_site_request');
    const { form: name, takes } = stepTable[step][browser.device];
    if (name === 'none') return unchanged;
    // The confirmation decides about the computer, so any other answer at its page is taken for a forged one.
    if (decision !== undefined && !takes.includes(decision) && name !== 'confirm')
      throw new ApiError('invalid_request', {
        description: `decision must be ${[...takes, 'cancel'].join(' or ')}`,
      });
    return forms[name](session, { ...browser, secret }, form);
  }

  const forms: Record<Exclude<FormName, 'none'>, HandleForm> = {
    consent: async (session, { secret }, form) => ({ session: await answerConsent(session, form), secret }),
    authenticate: submitToAuthenticate,
    confirm: async (session, { secret }, form) => ({ session: await confirm(session, form), secret }),
    'decline passkey': async (session, { secret }, { decision }) =>
      decision === 'no-passkey' ? declinePasskey(session, secret) : { session, secret },
  };

  /** Handles a form before the user has authenticated: about the device, about the method, or of the method itself. */
  async function submitToAuthenticate(
    session: Session,
    browser: Entered,
    form: Submission,
  ): Promise<Submitted> {
    // Only the computer can hand the session off.
    const aboutDevice =
      browser.device === 'computer' ? await chooseDevice(session, browser, form) : undefined;
    const answered = aboutDevice ?? (await chooseMethod(session, browser, form));
    return answered ?? authenticateByForm(session, browser, form);
  }

  /**
   * Handles the choice of a method in the list, and the way back to the list.
   * @returns undefined if the form is about something else
   */
  async function chooseMethod(
    session: Session,
    { secret }: Entered,
    { decision, method }: Submission,
  ): Promise<Submitted | undefined> {
    const { methods } = session;
    const isListShown = isChoosing(session);
    const isAboutMethod = method !== undefined || decision === 'other-method';
    // A form of the list has to name a method.
    if (!isAboutMethod && isListShown) throw methodNotOnPage();
    if (!isAboutMethod) return undefined;
    if (!methods) throw new ApiError('invalid_request', { description: 'There is no other method' });
    if (method === undefined) {
      const moved = isListShown ? session : await move(session, methodLeft(session, methods, now()));
      return { session: moved, secret };
    }
    const isOffered = offeredTo(session, clock.now()).some(({ name }) => name === method);
    if (!isOffered) throw methodNotOnPage();
    return { session: await move(session, methodChosen(session, methods, method, now())), secret };
  }

  /** Handles a form on a page of the source that this service renders. */
  async function authenticateByForm(
    session: Session,
    browser: Entered,
    { csrf = '', person }: Submission,
  ): Promise<Submitted> {
    const { authenticate: authenticateBySource } = sourceOf(session);
    if (!authenticateBySource)
      throw new ApiError('invalid_request', { description: 'This page takes no form' });
    const input = person === undefined ? {} : { person };
    const answered = await authenticateBySource(sourceSession(session, browser.language), input);
    const outcome = failMethodEarly(session, answered);
    // The cookie's secret is rotated when the session gets its user. An attacker may have planted the cookie, and would
    // otherwise share the session with that user. After a failure the session has no user yet, so the secret stays.
    const renewed =
      outcome.kind === 'failed' ? browser.secret : sessionAccess.rotatedSecret(browser, browser.secret, csrf);
    const moved = await authenticate({ session, browser, renewed }, outcome);
    return sessionAccess.afterRotation(moved, { browser, renewed, token: csrf });
  }

  /** The user accepts to share the claims. A user who declines has ended the session before. */
  async function answerConsent(session: Session, form: Submission): Promise<Session | undefined> {
    const { decision } = form;
    if (decision === 'accept') {
      // The user is asked to save a passkey later, so what the browser can do is stored now.
      const canSave = form.passkey === 'can' && (await passkeys.areAllowed(session));
      return move(session, consented(now(), { canSave }));
    }
    throw new ApiError('invalid_request', { description: 'decision must be accept, decline or cancel' });
  }

  /** After the authentication at the phone, the user confirms that the page on the computer is their own. */
  async function confirm(session: Session, { decision }: Submission): Promise<Session | undefined> {
    const { handoff, userId } = session;
    // A refusal (`deny`) has ended the session before. No page of ours sends another decision.
    if (decision !== 'confirm' || handoff?.state !== 'claimed' || !userId)
      throw new ApiError('cross_site_request');
    const newBrowserHash = sha256(sessionAccess.secretAfterConfirmation(session));
    const user = enrolling.idsOf(session, userId);
    const moved = await move(
      session,
      handoffConfirmed({ handoff, browserHash: session.browserHash }, { user, newBrowserHash, at: now() }),
    );
    // The enrollment's event is published now, because the computer may return much later.
    if (moved) outbox.drain(moved);
    return moved;
  }

  /**
   * Handles the choice between computer and phone. While a phone has the session, the computer can only take it back.
   * @returns undefined if the form is about something else
   */
  async function chooseDevice(
    session: Session,
    browser: Entered,
    form: Submission,
  ): Promise<Submitted | undefined> {
    const { handoff } = session;
    const unchanged = { session, secret: browser.secret };
    if (form.decision === 'stay' && handoff) {
      // Wrong codes, or an earlier form, have cancelled the hand-off already.
      if (handoff.state === 'cancelled') return unchanged;
      return { ...unchanged, session: await move(session, handoffCancelled(handoff, now())) };
    }
    const isAtPhone = handoff?.state === 'claimed';
    if (isAtPhone) return unchanged;
    return form.decision === 'phone' ? offerHandoff(session, browser, form) : undefined;
  }

  /** Shows a link and a code for the phone. The cookie's secret is rotated, because the cookie may have been planted. */
  async function offerHandoff(
    session: Session,
    browser: Entered,
    { deviceName, csrf = '' }: Submission,
  ): Promise<Submitted> {
    const { secret } = browser;
    const renewed = sessionAccess.rotatedSecret(browser, secret, csrf);
    const computer = { computer: deviceName, newBrowserHash: sha256(renewed), at: now() };
    const offered = handoffOffered(keyring.id, session, computer);
    // The session has had the most links that it may have.
    if (!offered) return { session, secret };
    return sessionAccess.afterRotation(await move(session, offered), { browser, renewed, token: csrf });
  }

  return submit;
}
