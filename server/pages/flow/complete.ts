import { describeReason, type Reason, reasons } from '../../../contracts/reasons.ts';
import { codeSnapshotOf, type Snapshot } from '../../people/enrollments/claims-snapshot.ts';
import { isWithdrawn } from '../../people/enrollments/enrollment-store.ts';
import { ApiError } from '../../platform/errors.ts';
import { sha256 } from '../../platform/ids.ts';
import { codeOf } from '../../sessions/code.ts';
import type { Session } from '../../sessions/session.ts';
import { claimsAskedFor, reasonAt, type Step } from '../../sessions/steps.ts';
import { applied, completed, failed, joined, type Transition } from '../../sessions/transitions.ts';
import type { PagesContext } from '../context.ts';
import { withQuery } from './redirect-uri.ts';

/**
 * The redirect that ends a session (interface 7.3). By `iss`, a client of several servers knows which one answers (RFC 9207).
 * By `session_id`, a partner can tell the sessions of one user apart, failed ones included.
 * @param outcome the code, or the reason why there is none
 */
export function redirectOf(
  { _id, state, redirectUri }: Pick<Session, '_id' | 'state' | 'redirectUri'>,
  outcome: { code: string } | { reason: Reason },
  issuer: string,
): string {
  const values =
    'code' in outcome
      ? outcome
      : { error: reasons[outcome.reason].error, error_description: describeReason(outcome.reason) };
  return withQuery(redirectUri, { ...values, state, iss: issuer, session_id: _id });
}

/**
 * A redirect at the end of a session leads only to a URI that is registered now.
 * @returns the session's own URI while it is registered, else the client's first one, else undefined
 */
export function redirectTarget(
  redirectUri: string,
  registered: readonly string[],
): { uri: string; isOfSession: boolean } | undefined {
  if (registered.includes(redirectUri)) return { uri: redirectUri, isOfSession: true };
  const [first] = registered;
  return first === undefined ? undefined : { uri: first, isOfSession: false };
}

export type Completion = ReturnType<typeof createCompletion>;

export function createCompletion(context: PagesContext) {
  const { directory, keyring, findSnapshot, chargeOf, baseUrl: issuer, clock } = context;

  /** The redirect URI of the session, or another one of its client; undefined if the client has none. */
  async function currentTarget({ clientId, redirectUri }: Session) {
    // A cached record of the client may be older than the URI: then the database is read.
    const isRegistered = ({ client }: { client: { redirectUris: readonly string[] } }) =>
      redirectTarget(redirectUri, client.redirectUris)?.isOfSession === true;
    const found = await directory.client(clientId, { acceptCached: isRegistered });
    return redirectTarget(redirectUri, found?.client.redirectUris ?? []);
  }

  /**
   * The redirect of a session whose URI is no longer registered: to the client's first URI, with an error.
   * Undefined while the session's own URI is registered, and for a session that is `over`, which is not redirected.
   * @throws ApiError `invalid_redirect_uri` if the client has no URI left
   */
  async function detour(session: Session, step: Step): Promise<string | undefined> {
    if (step === 'over') return undefined;
    const target = await currentTarget(session);
    if (target?.isOfSession) return undefined;
    if (target)
      return redirectOf({ ...session, redirectUri: target.uri }, { reason: 'invalid_redirect_uri' }, issuer);
    // The page of this error says that the verification has expired.
    if (step === 'expired') throw new ApiError('session_not_found');
    throw new ApiError('invalid_redirect_uri', { description: 'This client has no redirect URI' });
  }

  /**
   * The transition from `verified` to `complete`. The code is derived from the session's id, so it can be sent again
   * without being stored. A block, an erasure or new claims add an entry to the session's timeline. So if one of them
   * comes after the snapshot was read, this transition is refused.
   */
  async function issueCode(session: Session): Promise<{ transition: Transition; snapshot?: Snapshot }> {
    const snapshot = await findSnapshot(session);
    // The user was erased after the authentication.
    if (!snapshot) return { transition: failed(session, 'abandoned', new Date(clock.now())) };
    return { transition: complete(session, snapshot, codeSnapshotOf(snapshot, session)), snapshot };
  }

  /**
   * Returns the transition that completes the session. It fails the session if the user has withdrawn the consent after giving it.
   * @param codeSnapshot the claims to store with the code; undefined if the exchange has to read them
   */
  function complete(
    session: Session,
    snapshot: Snapshot,
    codeSnapshot: ReturnType<typeof codeSnapshotOf>,
  ): Transition {
    const at = new Date(clock.now());
    if (snapshot.enrollment && isWithdrawn(snapshot.enrollment, session))
      return failed(session, 'consent_declined', at);
    const { id: keyId, bytes } = keyring.code.current;
    const code = { hash: sha256(codeOf(bytes, session._id)), keyId };
    // Without an enrollment, this session makes it.
    const { firstSession = session._id, consentedClaims = [] } = snapshot.enrollment ?? {};
    const returning = firstSession !== session._id;
    // The enrollment needs no update if it already has the consent to all claims of this session. The first session
    // still has to publish the event of the enrollment, so it is never done here.
    const addsNoConsent = claimsAskedFor(session).every((name) => consentedClaims.includes(name));
    const isEnrollmentDone = returning && addsNoConsent;
    return completed(session, { code, snapshot: codeSnapshot, returning, isEnrollmentDone }, at);
  }

  /**
   * The code of a completed session; undefined if it has expired or was used.
   * @param isNew whether this request has issued the code: then it cannot have been used
   */
  async function usableCode(
    { _id, partnerId, mode, code }: Session,
    isNew: boolean,
  ): Promise<string | undefined> {
    // The key may have been removed from the keyring. Then the code cannot be derived again.
    const key = code && keyring.code.byId(code.keyId);
    if (!key || clock.now() >= code.expiresAt.getTime()) return undefined;
    const isUsed = !isNew && (await chargeOf({ partnerId, mode, codeHash: code.hash })) !== undefined;
    if (isUsed) return undefined;
    return codeOf(key.bytes, _id);
  }

  /**
   * The redirect that ends the session. A repeated request (double click, reload) gets the same redirect again.
   * @param isNew whether this request has issued the code
   * @throws ApiError `conflict` if the code was used or has expired, or the session is over
   */
  async function redirect(
    session: Session,
    { step, isNew }: { step: Extract<Step, 'completed' | 'failed' | 'expired' | 'over'>; isNew: boolean },
  ) {
    if (step === 'completed') {
      const code = await usableCode(session, isNew);
      if (code) return redirectOf(session, { code }, issuer);
    }
    const reason = reasonAt(session, step);
    // A session that is `over` ends on our page: the user comes back too late to continue at the partner.
    if (reason && step !== 'over') return redirectOf(session, { reason }, issuer);
    throw new ApiError('conflict', { description: 'This verification is already finished' });
  }

  /**
   * Adds the code to the transition of a return by passkey, so that one write stores both. A session whose redirect URI
   * is no longer registered gets no code.
   * A change of the user marks only sessions that have a user. This session has none yet, so it may miss a change since
   * `snapshot` was read. Therefore its code gets no claims snapshot, and the exchange reads the present records.
   */
  async function issueWith(session: Session, returned: Transition, snapshot: Snapshot): Promise<Transition> {
    if ((await detour(session, 'issue')) !== undefined) return returned;
    const verified = applied({ session, transition: returned });
    return joined(returned, complete(verified, snapshot, undefined));
  }

  return { detour, issueCode, issueWith, redirect };
}
