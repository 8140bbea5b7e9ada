import type { SourceFailure } from '../../../contracts/verification.ts';
import { ApiError, unavailable } from '../../platform/errors.ts';
import type { Keyring } from '../../platform/keys/keyring.ts';
import type { BrowserContext, SessionAccess } from '../browser/session-access.ts';
import { isOpen, linkAndCode } from '../handoff/handoff.ts';
import type { SessionPasskeys } from '../passkeys/session-passkeys.ts';
import type { Snapshot } from '../people/claims-snapshot.ts';
import type { Enrolling } from '../people/enroll.ts';
import { isChoosing } from '../session/methods.ts';
import type { Outbox } from '../session/outbox.ts';
import type { Handoff, Methods, Session } from '../session/session.ts';
import { isLive, type Step, stepOf } from '../session/steps.ts';
import type { AuthorizationRequests } from '../sources/authorization-request.ts';
import {
  type Asked,
  type AskedOf,
  type OfferedMethod,
  type OfferedTo,
  type SourceOf,
  sourceSession,
} from '../sources/session-source.ts';
import type { Beginning, Method } from '../sources/source.ts';
import type { Authentication } from './authenticate.ts';
import type { Completion } from './complete.ts';
import { createPasskeyForms } from './passkey-forms.ts';
import { createProviderReturn } from './provider-return.ts';
import { createSubmit, type Submitted } from './submit.ts';
import type { Verify } from './verify.ts';

interface EndedMethod {
  method: Method;
  reason: SourceFailure;
}

/** The page of the present step, or the redirect to the partner. */
export type View =
  /** `passkey`: options for a return by passkey; undefined if the client does not allow passkeys. */
  | { kind: 'consent'; session: Session; asked: Asked; passkey: PasskeyOptions | undefined }
  /** Asks whether the user wants to return by a passkey next time. */
  | { kind: 'save-passkey'; session: Session; passkey: PasskeyOptions }
  | { kind: 'begin'; session: Session; beginning: Beginning; asked: Asked }
  /** `last`: the method that the user tried before, and why it ended. */
  | { kind: 'methods'; session: Session; offered: OfferedMethod[]; last: EndedMethod | undefined }
  /** `shown`: link and code for the phone; undefined once they have expired. */
  | { kind: 'handoff'; session: Session; shown: { token: string; code: string } | undefined }
  /** At the computer, while the user continues on the phone. */
  | { kind: 'waiting'; session: Session; handoff: Handoff }
  /** At the phone: asks the user whether the computer is theirs. */
  | { kind: 'confirm'; session: Session; handoff: Handoff }
  /** At the phone, when there is nothing left to do there. */
  | { kind: 'phone-over'; session: Session; well: boolean }
  /** `viaPage`: by a page of ours, because a form of the source's site may not be redirected to the partner's site. */
  | { kind: 'leave'; session: Session; url: string; viaPage: boolean };

type PasskeyOptions = Awaited<ReturnType<SessionPasskeys['toSave']>>;

/** The phone's confirmation has rotated the computer's secret: the browser has to load the page with the new one. */
export interface Renewal {
  kind: 'renew';
  session: Session;
  secret: string;
}

/** A session after the automatic steps. */
interface Advanced {
  session: Session;
  step: Step;
  /** Another redirect, because the redirect URI is no longer registered. */
  detour: string | undefined;
  /** Whether this request has issued the code. */
  isNew: boolean;
}

interface Dependencies {
  sessionAccess: SessionAccess;
  authentication: Authentication;
  authorizationRequests: AuthorizationRequests;
  sourceOf: SourceOf;
  /** Whether users of a source leave for its own site. */
  hasSite: (name: string) => boolean;
  offeredTo: OfferedTo;
  askedOf: AskedOf;
  enrolling: Pick<Enrolling, 'known'>;
  passkeys: SessionPasskeys;
  verify: Verify;
  completion: Completion;
  outbox: Outbox;
  keyring: Pick<Keyring, 'id'>;
  clock: { now(): number };
}

/** How often a change is tried when concurrent changes make it fail. */
const maxConflictTries = 5;

/** The hosted flow: consent → authenticate → verify → redirect, at one or two devices. */
export function createFlow(dependencies: Dependencies) {
  const {
    sessionAccess,
    authentication,
    authorizationRequests,
    sourceOf,
    hasSite,
    offeredTo,
    askedOf,
    passkeys,
    verify,
    completion,
    outbox,
    keyring,
    clock,
  } = dependencies;
  const { move } = authentication;
  const passkeyForms = createPasskeyForms(dependencies);
  const submit = createSubmit({ ...dependencies, declinePasskey: passkeyForms.decline });
  const handleReturn = createProviderReturn(dependencies);

  /**
   * Whether a step needs no input: `issue` at the computer, `verify` at both devices. After a crash, a reload of the
   * page resumes such a step.
   */
  async function isAutomatic(session: Session, step: Step, browser: BrowserContext): Promise<boolean> {
    if (browser.device === 'phone') return step === 'verify';
    if (session.handoff?.state === 'claimed') return false;
    return step === 'verify' || (step === 'issue' && !(await passkeys.isAsked(session, browser)));
  }

  /** Takes one automatic step. */
  async function takeStep(
    session: Session,
    step: Step,
  ): Promise<{ moved: Session | undefined; snapshot?: Snapshot | undefined }> {
    if (step === 'verify') return { moved: await move(session, await verify(session, sourceOf(session))) };
    const { transition, snapshot } = await completion.issueCode(session);
    return { moved: await move(session, transition), snapshot };
  }

  /**
   * Takes the automatic steps of a session that was just read or moved.
   * @param issued whether this request has already issued the session's code
   */
  async function advance(read: Session, browser: BrowserContext, issued = false): Promise<Advanced> {
    let session = read;
    let snapshot: Snapshot | undefined;
    let isNew = issued;
    for (let tries = 0; tries < maxConflictTries; tries += 1) {
      const step = stepOf(session, clock.now());
      const detour = browser.device === 'computer' ? await completion.detour(session, step) : undefined;
      const canAdvance = detour === undefined && (await isAutomatic(session, step, browser));
      if (!canAdvance) {
        // The partner may read claims as soon as it has the code, so the enrollment is finished first.
        if (step === 'completed' && (isNew || session.enrollmentDueAt))
          await outbox.finish(session, snapshot);
        return { session, step, detour, isNew };
      }
      const taken = await takeStep(session, step);
      isNew = taken.moved?.code !== undefined;
      snapshot = taken.moved && taken.snapshot;
      session = taken.moved ?? (await sessionAccess.authorize(browser));
    }
    throw unavailable(new Error(`session ${session._id} keeps changing`));
  }

  /** The session of this browser after the automatic steps; a renewal if the browser's secret is outdated. */
  async function open(browser: BrowserContext): Promise<Advanced | Renewal> {
    const session = await sessionAccess.authorize(browser);
    const latest = sessionAccess.latestSecret(session, browser);
    if (latest !== undefined) return { kind: 'renew', session, secret: latest };
    return advance(session, browser);
  }

  async function show(browser: BrowserContext): Promise<View | Renewal> {
    const found = await open(browser);
    return 'kind' in found ? found : render(found, browser);
  }

  const render = (advanced: Advanced, browser: BrowserContext): Promise<View> =>
    browser.device === 'phone' ? atPhone(advanced, browser) : atComputer(advanced, browser);

  async function atComputer(
    { session, step, detour, isNew }: Advanced,
    browser: BrowserContext,
  ): Promise<View> {
    const viaPage = [session.source, ...(session.methods?.names ?? [])].some(hasSite);
    if (detour !== undefined) return { kind: 'leave', session, url: detour, viaPage };
    const { handoff } = session;
    if (handoff?.state === 'claimed' && isLive(step)) return { kind: 'waiting', session, handoff };
    switch (step) {
      case 'consent':
        return {
          kind: 'consent',
          session,
          asked: askedOf(session),
          passkey: await passkeys.toReturn(session),
        };
      case 'authenticate':
        return handoff?.state === 'offered' ? offer(session, handoff) : begin(session, browser);
      case 'issue':
        return { kind: 'save-passkey', session, passkey: await passkeys.toSave(session) };
      case 'confirm':
      case 'verify':
        throw new Error(`session ${session._id} has no page for the step ${step}`);
      case 'completed':
      case 'failed':
      case 'expired':
      case 'over':
        return { kind: 'leave', session, url: await completion.redirect(session, { step, isNew }), viaPage };
    }
  }

  async function atPhone({ session, step }: Advanced, browser: BrowserContext): Promise<View> {
    const { handoff } = session;
    if (!handoff) throw new ApiError('unauthorized');
    switch (step) {
      case 'consent':
      case 'authenticate':
        return begin(session, browser);
      case 'confirm':
        return { kind: 'confirm', session, handoff };
      case 'verify':
        throw new Error(`session ${session._id} has no page for the step verify`);
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

  async function begin(session: Session, { device, secret = '', language }: BrowserContext): Promise<View> {
    const { _id: sessionId, source, methods } = session;
    if (isChoosing(session)) return choose(session, methods?.last);
    const attempt = authorizationRequests.begin({ sessionId, device, secret, turn: methods?.turn });
    const beginning = await sourceOf(session).begin(sourceSession(session, language), attempt);
    if (beginning.kind === 'down' && methods) return choose(session, { source, reason: 'source_error' });
    return { kind: 'begin', session, beginning, asked: askedOf(session) };
  }

  const choose = (session: Session, last: Methods['last']): View => ({
    kind: 'methods',
    session,
    offered: offeredTo(session, clock.now()),
    last: last && { method: sourceOf({ ...session, source: last.source }).method, reason: last.reason },
  });

  function offer(session: Session, handoff: Handoff): View {
    const shown = isOpen(handoff, clock.now()) ? linkAndCode(keyring.id, session._id, handoff) : undefined;
    return { kind: 'handoff', session, shown };
  }

  /** The redirect out of a session after a form; undefined if a page of ours comes next. */
  async function exitAfterForm(
    { session: moved, secret, isNew }: Submitted,
    browser: BrowserContext,
  ): Promise<View | undefined> {
    const entered = { ...browser, secret };
    const session = moved ?? (await sessionAccess.authorize(entered));
    if (sessionAccess.latestSecret(session, entered) !== undefined) return undefined;
    const advanced = await advance(session, entered, isNew);
    const isOver = advanced.detour !== undefined || !isLive(advanced.step);
    return browser.device === 'computer' && isOver ? atComputer(advanced, entered) : undefined;
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
