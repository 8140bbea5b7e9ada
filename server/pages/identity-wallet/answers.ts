import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Device } from '../../../contracts/verification.ts';
import {
  annexC,
  destinationOfToken,
  type Handle,
  type IdentityWalletAnswer,
  type IdentityWalletResponse,
  PresentationRefused,
  type Verifier,
} from '../../identity-wallet/port.ts';
import { ApiError, unavailable } from '../../platform/errors.ts';
import { isTokenOf } from '../../platform/http/browser/csrf.ts';
import { sameText, sha256 } from '../../platform/ids.ts';
import { isChoosing } from '../../sessions/methods.ts';
import type { Session } from '../../sessions/session.ts';
import type { BrowserContext, SessionAccess } from '../../sessions/session-access.ts';
import { type Outcome, outcomeTransition } from '../../sessions/sources/identity-wallet/outcome.ts';
import { type AcceptedPresentation, pendingIn } from '../../sessions/sources/identity-wallet/pending.ts';
import { authenticatedBy } from '../../sessions/sources/identity-wallet/source.ts';
import { claimsAskedFor, stepOf } from '../../sessions/steps.ts';
import type { PagesContext } from '../context.ts';
import type { Authentication } from '../flow/authenticate.ts';

/** A request that waits for a response, with its session and verifier. */
interface OpenRequest {
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

/** The form of a page that has used the Digital Credentials API. `data`: the browser's response to the page, in JSON. */
export const DigitalAnswer = z.object({
  csrf: z.string().max(256),
  token: z.string().max(128),
  data: z.string().min(1).max(65_536),
  protocol: z.string().max(32).optional(),
});

/** SHA-256 of the secret in the cookie of the session's browser at this device. Requests are bound to it. */
const bindingOf = ({ browserHash, handoff }: Session, device: Device): string | undefined =>
  device === 'computer' ? browserHash : handoff?.phoneHash;

/** Whether a device continues the session: the phone once it has claimed the hand-off, else the computer. */
const isActiveDevice = ({ handoff }: Session, device: Device): boolean =>
  device === (handoff?.state === 'claimed' ? 'phone' : 'computer');

/** @param parts.verifiers by the names of their sources */
export function createIdentityWalletAnswers(
  { sessions, clock, logger }: PagesContext,
  parts: {
    verifiers: ReadonlyMap<string, Verifier>;
    sessionAccess: SessionAccess;
    authentication: Authentication;
  },
) {
  const { verifiers, sessionAccess, authentication } = parts;
  const now = () => new Date(clock.now());
  const requestOf = (session: Session) => ({ mode: session.mode, claims: claimsAskedFor(session) });

  /**
   * The session's open request with this token. Undefined if it was answered, if the session has gone on since (to
   * another step, method or device), or if the token is forged.
   */
  function openRequestOf(session: Session, token: string): OpenRequest | undefined {
    const destination = destinationOfToken(token);
    const verifier = verifiers.get(session.source);
    if (!destination || !verifier) return undefined;
    const { device, number, keyId } = destination;
    const binding = bindingOf(session, device);
    const isOpen =
      stepOf(session, clock.now()) === 'authenticate' &&
      !isChoosing(session) &&
      isActiveDevice(session, device) &&
      pendingIn(session.carried).number === number;
    if (!isOpen || binding === undefined) return undefined;
    const handle = { source: session.source, sessionId: session._id, device, binding, number, keyId };
    return verifier.tokenMatches(handle, token) ? { session, verifier, handle } : undefined;
  }

  /** @throws ApiError `session_not_found` for a request that is not open */
  async function findOpenRequest(source: string, token: string): Promise<OpenRequest> {
    const destination = destinationOfToken(token);
    const session = destination && (await sessions.find(destination.sessionId));
    const open = session?.source === source ? openRequestOf(session, token) : undefined;
    if (!open) throw new ApiError('session_not_found');
    return open;
  }

  /** Verifies a response. A refusal is an outcome too, and is logged for operators. */
  async function verify(
    { handle, session, verifier }: OpenRequest,
    channel: IdentityWalletAnswer['channel'],
    response: IdentityWalletResponse,
  ): Promise<Outcome> {
    if (response.kind === 'error') return response;
    try {
      const answer = { channel, presented: response.presented };
      return { kind: 'proven', ...(await verifier.verifyPresentation(handle, requestOf(session), answer)) };
    } catch (error) {
      if (!(error instanceof PresentationRefused)) throw error;
      logger.warn(
        { source: session.source, sessionId: session._id, why: error.message },
        'refused a presentation',
      );
      return { kind: 'refused', refusal: error };
    }
  }

  /**
   * Verifies a response, and stores the outcome in the session. Of several responses at the same time, only the one that
   * locks the request is verified.
   * @returns undefined if another response has locked the request; `moved`: undefined if the session has changed
   * @throws ApiError `invalid_request` if the response does not belong to this request
   */
  async function accept(open: OpenRequest, answer: IdentityWalletAnswer) {
    if (clock.trusted?.() === false) throw unavailable(new Error('the clock is not trusted'));
    const { session, verifier, handle } = open;
    const response = await verifier.read(handle, answer);
    if (!(await sessions.lockRequest(session, clock.now()))) return undefined;
    const outcome = await verify(open, answer.channel, response);
    const { number, device } = handle;
    const code = randomBytes(32).toString('base64url');
    const transition = outcomeTransition(session, outcome, { number, device, code, at: now() });
    const moved = await authentication.move(session, transition);
    return { moved, code, isRefused: outcome.kind === 'refused' };
  }

  /**
   * Authenticates the user of an accepted presentation.
   * @param token as for `rotatedSecret`
   * @returns the secret that the browser's cookie must hold from now on
   */
  async function authenticatePresented(
    session: Session,
    presented: AcceptedPresentation,
    { browser, secret, token }: { browser: BrowserContext; secret: string; token: string },
  ): Promise<string> {
    const { number } = pendingIn(session.carried);
    const user = authenticatedBy(presented, { presentationId: `presentation ${session._id} ${number}` });
    const renewed = sessionAccess.rotatedSecret(browser, secret, token);
    const moved = await authentication.authenticate({ session, browser, renewed }, user);
    return (await sessionAccess.afterRotation(moved, { browser, renewed, token })).secret;
  }

  return {
    /** The signed request. @throws ApiError `session_not_found` if it is not open, or if its source signs no requests */
    async request(source: string, token: string, walletNonce?: string): Promise<string> {
      const { session, verifier, handle } = await findOpenRequest(source, token);
      const signed = await verifier.signedRequest(handle, requestOf(session), walletNonce);
      if (signed === undefined) throw new ApiError('session_not_found');
      return signed;
    },

    /**
     * Handles the response to a request. Only one response is accepted.
     * @throws ApiError `session_not_found` if the request is not open, `conflict` while another response is verified,
     * `invalid_request` if the response does not belong to the request
     */
    async answer(source: string, token: string, body: unknown): Promise<Answered> {
      const open = await findOpenRequest(source, token);
      const accepted = await accept(open, { channel: 'response-uri', body });
      if (!accepted)
        throw new ApiError('conflict', { description: 'Another answer to this request came first' });
      const { moved, code, isRefused } = accepted;
      if (!moved) throw new ApiError('session_not_found');
      const { sessionId, device } = open.handle;
      return { sessionId, device, code, isRefused };
    },

    /**
     * Handles the response that a page of the session got by the Digital Credentials API. A response to an earlier
     * request changes nothing: the browser is shown the present step.
     * @returns the secret that the browser's cookie must hold from now on
     * @throws ApiError `unauthorized` in another browser, `cross_site_request` for a form that this browser was not shown
     */
    async present(browser: BrowserContext, form: z.infer<typeof DigitalAnswer>): Promise<string> {
      const { csrf, token, data, protocol } = form;
      const { session, secret, isCurrent } = await sessionAccess.authorizeForm(browser, csrf);
      // The same form was handled before, and has rotated the secret.
      if (!isCurrent) return secret;
      if (!isTokenOf(secret, csrf)) throw new ApiError('cross_site_request');
      const open = openRequestOf(session, token);
      // The request is answered or out of date, or it was made for the session's other device.
      if (open?.handle.device !== browser.device) return secret;
      const channel = protocol === annexC ? 'annex-c' : 'digital-credentials';
      const moved = (await accept(open, { channel, body: data }))?.moved;
      const { presented } = pendingIn(moved?.carried);
      // Another response came first, or this one proves nothing. The next page tells the user.
      if (!moved || !presented) return secret;
      return authenticatePresented(moved, presented, { browser, secret, token: csrf });
    },

    /**
     * Handles a browser that returns with the code that only its identity wallet was given. A presentation counts only
     * with this code, and only in the browser that made the request.
     * @returns the secret that the browser's cookie must hold from now on
     * @throws ApiError `unauthorized` in another browser, `cross_site_request` for a wrong code
     */
    async handleReturn(browser: BrowserContext, code: string): Promise<string> {
      const { session, secret, isCurrent } = await sessionAccess.authorizeForm(browser, code);
      const isExpected =
        isCurrent &&
        stepOf(session, clock.now()) === 'authenticate' &&
        isActiveDevice(session, browser.device);
      // The browser returns late or twice, or the session continues on the other device.
      if (!isExpected) return secret;
      const { presented, declined } = pendingIn(session.carried);
      // The identity wallet is given a code for a presentation, and for an error too.
      const returnCode = presented ?? declined;
      const isRightCode =
        returnCode?.device === browser.device && sameText(returnCode.codeHash, sha256(code));
      // The user has chosen another method since.
      if (!isRightCode && session.methods) return secret;
      if (!isRightCode) throw new ApiError('cross_site_request');
      // The user has declined in the identity wallet, or it had an error. The next page says so.
      if (!presented) return secret;
      return authenticatePresented(session, presented, { browser, secret, token: code });
    },
  };
}
export type IdentityWalletAnswers = ReturnType<typeof createIdentityWalletAnswers>;
