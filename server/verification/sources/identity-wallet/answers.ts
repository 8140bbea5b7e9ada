import { randomBytes } from 'node:crypto';
import type { Device } from '../../../../contracts/verification.ts';
import {
  annexC,
  destinationOfToken,
  type Handle,
  type IdentityWalletAnswer,
  type IdentityWalletResponse,
  PresentationRefused,
  type Proof,
  type Verifier,
} from '../../../identity-wallet/port.ts';
import { ApiError, unavailable } from '../../../platform/errors.ts';
import { isTokenOf } from '../../../platform/http/csrf.ts';
import { sameText, sha256 } from '../../../platform/ids.ts';
import type { Logger } from '../../../platform/telemetry/logging.ts';
import type { BrowserContext, SessionAccess } from '../../browser/session-access.ts';
import type { Authentication } from '../../flow/authenticate.ts';
import { isChoosing, methodFailed } from '../../session/methods.ts';
import type { Session } from '../../session/session.ts';
import type { SessionStore } from '../../session/session-store.ts';
import { claimsAskedFor, stepOf } from '../../session/steps.ts';
import type { Transition } from '../../session/transitions.ts';
import type { ClaimStore } from './claim-store.ts';
import { type Pending, type Presented, pendingIn } from './pending.ts';
import { authenticatedBy } from './source.ts';

/** The result of an identity wallet's response: an error, or proven claims. */
type Outcome = Extract<IdentityWalletResponse, { kind: 'error' }> | ({ kind: 'proven' } & Proof);

interface Dependencies {
  verifiers: ReadonlyMap<string, Verifier>;
  sessions: Pick<SessionStore, 'find'>;
  claims: ClaimStore;
  sessionAccess: SessionAccess;
  authentication: Authentication;
  clock: { now(): number; trusted?(): boolean };
  logger: Pick<Logger, 'warn'>;
}

/** An open request, with its session and verifier. */
interface Open {
  session: Session;
  verifier: Verifier;
  handle: Handle;
}

/** The response of the response URI to an identity wallet (OpenID4VP 1.0, 8.2). */
interface Answered {
  sessionId: string;
  device: Device;
  /** The response code, with which the browser that made the request returns, also after a refusal. */
  code: string;
  isRefused: boolean;
}

/** The form of a page that has used the Digital Credentials API. */
export interface DigitalAnswer {
  csrf: string;
  /** Token of the request that this answers. */
  token: string;
  /** The browser's response to the page, in JSON. */
  data: string;
  protocol?: string | undefined;
}

/** The most responses that one session accepts. */
const mostAnswers = 10;

const bindingOf = ({ browserHash, handoff }: Session, device: Device): string | undefined =>
  device === 'computer' ? browserHash : handoff?.phoneHash;

/** Whether a device continues the session: the phone once it has claimed the hand-off, else the computer. */
const isActiveDevice = ({ handoff }: Session, device: Device): boolean =>
  (device === 'phone') === (handoff?.state === 'claimed');

/** Handles the responses of identity wallets, and the browsers that return after them. */
export function createIdentityWalletAnswers(dependencies: Dependencies) {
  const { verifiers, sessions, claims, sessionAccess, authentication, clock, logger } = dependencies;
  const now = () => new Date(clock.now());
  const asked = (session: Session) => ({ mode: session.mode, claims: claimsAskedFor(session) });

  /** The session's open request with this token; undefined if the request was answered or is out of date. */
  function openIn(session: Session, token: string): Open | undefined {
    const destination = destinationOfToken(token);
    const verifier = verifiers.get(session.source);
    if (!destination || !verifier) return undefined;
    const { device, number } = destination;
    const binding = bindingOf(session, device);
    const isOpen =
      stepOf(session, clock.now()) === 'authenticate' &&
      !isChoosing(session) &&
      isActiveDevice(session, device) &&
      pendingIn(session.carried).number === number;
    if (!isOpen || binding === undefined) return undefined;
    const handle = { source: session.source, sessionId: session._id, device, binding, number };
    return verifier.tokenMatches(handle, token) ? { session, verifier, handle } : undefined;
  }

  /** @throws ApiError `session_not_found` for a request that is not open: unknown, answered, or out of date */
  async function find(name: string, token: string): Promise<Open> {
    const destination = destinationOfToken(token);
    const session = destination && (await sessions.find(destination.sessionId));
    const open = session?.source === name ? openIn(session, token) : undefined;
    if (!open) throw new ApiError('session_not_found');
    return open;
  }

  const returnCodeOf = ({ handle }: Open, code: string) => ({
    device: handle.device,
    codeHash: sha256(code),
  });

  function pendingAfter(open: Open, outcome: Outcome, code: string): Pending {
    const number = open.handle.number + 1;
    const returnCode = returnCodeOf(open, code);
    if (outcome.kind === 'error') {
      const notice = outcome.error === 'access_denied' ? 'declined' : 'trouble';
      return { number, notice, declined: returnCode };
    }
    const { claims: proven, subject } = outcome;
    const presented = { ...returnCode, claims: proven, ...(subject ? { subject } : {}) };
    return { number, notice: 'answered', presented };
  }

  /** Ends the method. If the browser still returns with its code, it is shown the list of methods. */
  function endMethod(open: Open, failure: Parameters<typeof methodFailed>[1], code: string): Transition {
    const { session, handle } = open;
    const end = methodFailed(session, failure, now());
    if (!end.set.methods) return end;
    const wallet: Pending = { number: handle.number + 1, declined: returnCodeOf(open, code) };
    return { ...end, carried: { ...end.carried, wallet } };
  }

  function transitionOf(open: Open, outcome: Outcome, code: string): Transition {
    const { session, handle } = open;
    if (outcome.kind === 'error') {
      if (handle.number + 1 >= mostAnswers) {
        const note = `${mostAnswers} answers without a proof`;
        return endMethod(open, { reason: 'abandoned', note, again: false }, code);
      }
      if (session.methods) {
        const reason = outcome.error === 'access_denied' ? 'abandoned' : 'source_error';
        return endMethod(open, { reason, note: `wallet: ${outcome.error}`, again: true }, code);
      }
    }
    const note = outcome.kind === 'error' ? `wallet: ${outcome.error}` : 'wallet: presented';
    const carried = { ...session.carried, wallet: pendingAfter(open, outcome, code) };
    return { set: {}, carried, entry: { at: now(), event: 'returned', note: `${session.source}, ${note}` } };
  }

  async function verifyAnswer(
    { handle, session, verifier }: Open,
    presented: Parameters<Verifier['verifyPresentation']>[2],
  ): Promise<Outcome | PresentationRefused> {
    try {
      return { kind: 'proven', ...(await verifier.verifyPresentation(handle, asked(session), presented)) };
    } catch (error) {
      if (!(error instanceof PresentationRefused)) throw error;
      logger.warn(
        { source: session.source, sessionId: session._id, why: error.message },
        'refused a presentation',
      );
      return error;
    }
  }

  /**
   * Verifies a response, and stores the result in the session. Of several responses at the same time, only the one that
   * claims the request is verified.
   * @returns undefined if another response has claimed the request; `moved`: undefined if the session has changed
   * @throws ApiError `invalid_request` if the response does not belong to this request
   */
  async function accept(open: Open, answer: IdentityWalletAnswer) {
    if (clock.trusted?.() === false) throw unavailable(new Error('the clock is not trusted'));
    const { session, verifier, handle } = open;
    const response = await verifier.read(handle, answer);
    if (!(await claims.claim(session, clock.now()))) return undefined;
    const outcome =
      response.kind === 'error'
        ? response
        : await verifyAnswer(open, { channel: answer.channel, presented: response.presented });
    const code = randomBytes(32).toString('base64url');
    const isRefused = outcome instanceof PresentationRefused;
    const transition = isRefused
      ? endMethod(open, { reason: outcome.reason, note: outcome.message, again: false }, code)
      : transitionOf(open, outcome, code);
    return { moved: await authentication.move(session, transition), code, isRefused };
  }

  /** The user of an accepted presentation. */
  function userOf(session: Session, { presented, number }: Pending & { presented: Presented }) {
    return authenticatedBy(presented, `presentation ${session._id} ${number}`);
  }

  return {
    /** The signed request. @throws ApiError `session_not_found` if the request is not open, or is not a signed one */
    async request(name: string, token: string, walletNonce?: string): Promise<string> {
      const { session, verifier, handle } = await find(name, token);
      const signed = await verifier.signedRequest(handle, asked(session), walletNonce);
      if (signed === undefined) throw new ApiError('session_not_found');
      return signed;
    },

    /**
     * Handles the response to a request. Only one response is accepted.
     * @throws ApiError `session_not_found` if the request is not open, `conflict` while another response is verified,
     * `invalid_request` if the response does not belong to the request
     */
    async answer(name: string, token: string, body: unknown): Promise<Answered> {
      const open = await find(name, token);
      const taken = await accept(open, { channel: 'response-uri', body });
      if (!taken)
        throw new ApiError('conflict', { description: 'Another answer to this request came first' });
      if (!taken.moved) throw new ApiError('session_not_found');
      const { sessionId, device } = open.handle;
      return { sessionId, device, code: taken.code, isRefused: taken.isRefused };
    },

    /**
     * Handles the response that a page of the session got by the Digital Credentials API. A response to an earlier
     * request changes nothing: the browser is shown the present step.
     * @returns the secret that the browser's cookie must hold from now on
     * @throws ApiError `unauthorized` in another browser, `cross_site_request` for a form that this browser was not shown
     */
    async present(browser: BrowserContext, { csrf, token, data, protocol }: DigitalAnswer): Promise<string> {
      const { session, secret, isCurrent } = await sessionAccess.authorizeForm(browser, csrf);
      if (!isCurrent) return secret;
      if (!isTokenOf(secret, csrf)) throw new ApiError('cross_site_request');
      const open = openIn(session, token);
      if (!open || open.handle.device !== browser.device) return secret;
      const channel = protocol === annexC ? 'annex-c' : 'digital-credentials';
      const moved = (await accept(open, { channel, body: data }))?.moved;
      const { presented, number } = pendingIn(moved?.carried);
      if (!moved || !presented) return secret;
      const renewed = sessionAccess.rotated(browser, secret, csrf);
      const user = userOf(moved, { presented, number });
      const authenticated = await authentication.authenticate({ session: moved, browser, renewed }, user);
      return (await sessionAccess.afterRotation(authenticated, { browser, renewed, token: csrf })).secret;
    },

    /**
     * Handles a browser that returns with the code that only its identity wallet was given. A presentation counts only
     * with this code, and only in the browser that made the request.
     * @returns the secret that the browser's cookie must hold from now on
     * @throws ApiError `unauthorized` in another browser, `cross_site_request` for a wrong code
     */
    async handleReturn(browser: BrowserContext, code: string): Promise<string> {
      const { session, secret, isCurrent } = await sessionAccess.authorizeForm(browser, code);
      if (
        !isCurrent ||
        stepOf(session, clock.now()) !== 'authenticate' ||
        !isActiveDevice(session, browser.device)
      )
        return secret;
      const { presented, declined, number } = pendingIn(session.carried);
      const returnCode = presented ?? declined;
      const isRightCode =
        returnCode?.device === browser.device && sameText(returnCode.codeHash, sha256(code));
      // The user has chosen another method since.
      if (!isRightCode && session.methods) return secret;
      if (!isRightCode) throw new ApiError('cross_site_request');
      if (!presented) return secret;
      const outcome = userOf(session, { presented, number });
      const renewed = sessionAccess.rotated(browser, secret, code);
      const moved = await authentication.authenticate({ session, browser, renewed }, outcome);
      return (await sessionAccess.afterRotation(moved, { browser, renewed, token: code })).secret;
    },
  };
}
export type IdentityWalletAnswers = ReturnType<typeof createIdentityWalletAnswers>;
