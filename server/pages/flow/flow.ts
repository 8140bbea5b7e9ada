import type { Snapshot } from '../../people/enrollments/claims-snapshot.ts';
import { ApiError, unavailable } from '../../platform/errors.ts';
import { isOpen, linkAndCode } from '../../sessions/hand-off/handoff.ts';
import { isChoosing } from '../../sessions/methods.ts';
import type { Handoff, Methods, Session } from '../../sessions/session.ts';
import type { BrowserContext } from '../../sessions/session-access.ts';
import { sourceSession } from '../../sessions/sources/session-source.ts';
import { isLive, type Step, stepOf } from '../../sessions/steps.ts';
import type { FlowParts } from './parts.ts';
import { createPasskeyForms } from './passkey-forms.ts';
import { createProviderReturn } from './provider-return.ts';
import { stepTable } from './step-table.ts';
import { createSubmit, type Submitted } from './submit.ts';
import type { PasskeyOptions, Renewal, View } from './view.ts';

/** A session after the automatic steps. */
interface Advanced {
  session: Session;
  step: Step;
  /** The redirect that replaces the usual one, because the redirect URI is no longer registered. */
  detour: string | undefined;
  /** Whether this request has issued the code. */
  isNew: boolean;
}

/** The steps that need no input from the user. */
type AutomaticStep = Extract<Step, 'verify' | 'issue'>;

/** How often a change is tried when concurrent changes make it fail. */
const maxConflictTries = 5;

/** The hosted flow: consent → authenticate → verify → redirect, at one or two devices. */
export function createFlow(parts: FlowParts) {
  const { sourceOf, hasSite, offeredTo, askedOf, sessionAccess, authentication } = parts;
  const { authorizationRequests, passkeys, verify, completion, outbox, keyring, clock } = parts;
  const { move } = authentication;
  const passkeyForms = createPasskeyForms(parts);
  const submit = createSubmit(parts, passkeyForms.decline);
  const handleReturn = createProviderReturn(parts);

  /**
   * Returns the present step if it needs no input from the user; else undefined. After a crash, a reload of the page
   * resumes such a step.
   */
  async function automaticStep(
    session: Session,
    step: Step,
    browser: BrowserContext,
  ): Promise<AutomaticStep | undefined> {
    const isComputer = browser.device === 'computer';
    // While a phone has the session, the computer waits.
    if (isComputer && session.handoff?.state === 'claimed') return undefined;
    if (step === 'verify') return step;
    // Only the computer returns to the partner, so the code is issued there. A question about passkeys comes first.
    return step === 'issue' && isComputer && !(await passkeys.isAskedToSave(session, browser))
      ? step
      : undefined;
  }

  /**
   * Takes one automatic step.
   * @returns the session after it, or undefined if another request has changed the session first. `snapshot`: the records
   * of the user, if the step has read them
   */
  async function takeStep(
    session: Session,
    step: AutomaticStep,
  ): Promise<{ moved: Session | undefined; snapshot?: Snapshot | undefined }> {
    if (step === 'verify') return { moved: await move(session, await verify(session, sourceOf(session))) };
    const { transition, snapshot } = await completion.issueCode(session);
    return { moved: await move(session, transition), snapshot };
  }

  /**
   * Takes the automatic steps of a session that was just read or moved.
   * @param hasIssued whether this request has already issued the session's code
   */
  async function advance(start: Session, browser: BrowserContext, hasIssued = false): Promise<Advanced> {
    let session = start;
    let snapshot: Snapshot | undefined;
    let isNew = hasIssued;
    for (let tries = 0; tries < maxConflictTries; tries += 1) {
      const step = stepOf(session, clock.now());
      const detour = browser.device === 'computer' ? await completion.detour(session, step) : undefined;
      const nextStep = detour === undefined ? await automaticStep(session, step, browser) : undefined;
      if (!nextStep) {
        // The partner may read claims as soon as it has the code, so the enrollment is finished first.
        if (step === 'completed' && (isNew || session.enrollmentDueAt))
          await outbox.finish(session, snapshot);
        return { session, step, detour, isNew };
      }
      const { moved, snapshot: read } = await takeStep(session, nextStep);
      isNew = moved?.code !== undefined;
      snapshot = read;
      session = moved ?? (await sessionAccess.authorize(browser));
    }
    throw unavailable(new Error(`session ${session._id} keeps changing`));
  }

  /**
   * Takes the automatic steps, then returns what the browser is shown. A browser that has missed a new secret gets it first:
   * the answer to its form was lost, or the user has confirmed at the phone.
   */
  async function show(browser: BrowserContext): Promise<View | Renewal> {
    const { session, secret: current } = await sessionAccess.authorizeForm(browser, browser.formToken ?? '');
    if (current !== browser.secret) return { kind: 'renew', session, secret: current };
    const secret = sessionAccess.outstandingSecret(session, browser);
    if (secret !== undefined) return { kind: 'renew', session, secret };
    return viewOf(await advance(session, browser), browser);
  }

  /**
   * The redirect to the partner. A page of ours comes first if a source of the session has a site of its own: the user may
   * have come by a form of that site (see `View`).
   */
  const leave = (session: Session, url: string): View => ({
    kind: 'leave',
    session,
    url,
    viaPage: [session.source, ...(session.methods?.names ?? [])].some(hasSite),
  });

  /** Makes what the table names for the step and the device. While a phone has the session, the computer waits. */
  async function viewOf(advanced: Advanced, browser: BrowserContext): Promise<View> {
    const { session, step, detour, isNew } = advanced;
    const { handoff } = session;
    const isComputer = browser.device === 'computer';
    // Without a hand-off, no phone has access to the session.
    if (!isComputer && !handoff) throw new ApiError('unauthorized');
    if (detour !== undefined) return leave(session, detour);
    if (isComputer && handoff?.state === 'claimed' && isLive(step))
      return { kind: 'waiting', session, handoff };
    const { page } = stepTable[step][browser.device];
    switch (page) {
      case 'consent': {
        const passkey = await passkeys.returnOptions(session);
        return { kind: 'consent', session, asked: askedOf(session), passkey };
      }
      case 'method or hand-off':
        return handoff?.state === 'offered' ? handoffOffer(session, handoff) : beginMethod(session, browser);
      case 'method':
        return beginMethod(session, browser);
      case 'save passkey':
        return { kind: 'save-passkey', session, passkey: await passkeys.saveOptions(session) };
      case 'confirm':
        if (!handoff) throw new ApiError('unauthorized');
        return { kind: 'confirm', session, handoff };
      case 'leave':
        if (isLive(step)) break;
        return leave(session, await completion.redirect(session, { step, isNew }));
      case 'phone succeeded':
      case 'phone failed':
        return { kind: 'phone-over', session, succeeded: page === 'phone succeeded' };
      case 'expired link':
        // Only the computer is redirected to the partner.
        throw new ApiError('session_not_found');
      case 'none':
    }
    throw new Error(`session ${session._id} has no page for the step ${step}`);
  }

  /** The first page of the session's source, or the list of methods. */
  async function beginMethod(
    session: Session,
    { device, secret = '', language }: BrowserContext,
  ): Promise<View> {
    const { _id: sessionId, source, methods } = session;
    if (isChoosing(session)) return methodList(session, methods?.last);
    const attempt = authorizationRequests.begin({ sessionId, device, secret, turn: methods?.turn });
    const beginning = await sourceOf(session).begin(sourceSession(session, language), attempt);
    // The user can choose another method than the one that is out of order.
    if (beginning.kind === 'down' && methods) return methodList(session, { source, reason: 'source_error' });
    return { kind: 'begin', session, beginning, asked: askedOf(session) };
  }

  /** @param last the method that ended last */
  const methodList = (session: Session, last: Methods['last']): View => ({
    kind: 'methods',
    session,
    offered: offeredTo(session, clock.now()),
    // The method that ended is not always the session's present source.
    last: last && { method: sourceOf({ ...session, source: last.source }).method, reason: last.reason },
  });

  /** The computer's page with link and code for the phone. */
  function handoffOffer(session: Session, handoff: Handoff): View {
    const shown = isOpen(handoff, clock.now()) ? linkAndCode(keyring.id, session._id, handoff) : undefined;
    return { kind: 'handoff', session, shown };
  }

  /**
   * The redirect to the partner that answers a form directly. Undefined if a page of ours comes next: then the form is
   * answered by a redirect to that page.
   */
  async function exitAfterForm(
    { session: moved, secret, isNew }: Submitted,
    browser: BrowserContext,
  ): Promise<View | undefined> {
    const entered = { ...browser, secret };
    // If another request has changed the session first, it is read again.
    const session = moved ?? (await sessionAccess.authorize(entered));
    // The user at the phone has confirmed meanwhile. The page that is loaded now sets the computer's new secret.
    if (sessionAccess.outstandingSecret(session, entered) !== undefined) return undefined;
    const advanced = await advance(session, entered, isNew);
    const isOver = advanced.detour !== undefined || !isLive(advanced.step);
    // Only the computer returns to the partner.
    return browser.device === 'computer' && isOver ? viewOf(advanced, entered) : undefined;
  }

  /**
   * Options for the passkey that the present page asks for, with a new challenge. The challenge in the page itself
   * is valid for two minutes only.
   * @throws ApiError `conflict` if the page asks for no passkey
   */
  async function passkeyOptions(browser: BrowserContext): Promise<PasskeyOptions> {
    const view = await show(browser);
    const options = 'passkey' in view ? view.passkey : undefined;
    if (!options) throw new ApiError('conflict', { description: 'This page asks for no passkey' });
    return options;
  }

  return {
    show,
    submit,
    usePasskey: passkeyForms.use,
    savePasskey: passkeyForms.save,
    passkeyOptions,
    exitAfterForm,
    handleReturn,
  };
}
