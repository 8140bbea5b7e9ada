import { ApiError } from '../../platform/errors.ts';
import { deriveSecret, sha256 } from '../../platform/ids.ts';
import type { Keyring } from '../../platform/keyring.ts';
import { backingOf, type FindStanding } from '../people/claims-snapshot.ts';
import type { CodeOfSession } from '../session/session-store.ts';
import {
  claimsAskedFor,
  completed,
  failed,
  reasonAt,
  type Session,
  type Stage,
  type Transition,
} from '../session/transitions.ts';
import { errorRedirect, redirectTarget, successRedirect } from './redirect.ts';
import type { ClientDirectory } from './start.ts';

interface Dependencies {
  findStanding: FindStanding;
  directory: Pick<ClientDirectory, 'client'>;
  keyring: Pick<Keyring, 'code'>;
  isCodeUsed: (code: CodeOfSession) => Promise<boolean>;
  /** `iss` of the redirect. */
  issuer: string;
  clock: { now(): number };
}

export type Ending = ReturnType<typeof createEnding>;

/** How sessions end: the code, and the way back to the partner. */
export function createEnding({ directory, keyring, findStanding, isCodeUsed, issuer, clock }: Dependencies) {
  /** Where the session may end now; read past the cache before it is said that its URI is gone. */
  async function target({ clientId, redirectUri }: Session) {
    const uris = async (fresh: boolean) =>
      (await directory.client(clientId, { fresh }))?.client.redirectUris ?? [];
    const remembered = redirectTarget(redirectUri, await uris(false));
    return remembered?.own ? remembered : redirectTarget(redirectUri, await uris(true));
  }

  /**
   * The way out of a session whose redirect URI is no longer registered: the client's first one, with the
   * error; undefined where all is well.
   * @throws ApiError `invalid_redirect_uri` where no URI is left at all
   */
  async function detour(session: Session, stage: Stage): Promise<string | undefined> {
    if (stage === 'over') return undefined;
    const found = await target(session);
    if (found?.own) return undefined;
    if (stage === 'expired' && !found) throw new ApiError('session_not_found');
    if (!found)
      throw new ApiError('invalid_redirect_uri', { description: 'No redirect URI of this client is left' });
    return errorRedirect({ redirectUri: found.uri, state: session.state, issuer }, 'invalid_redirect_uri');
  }

  /** `verified` → `complete`. The code is derived from the session, so that it need not be kept to be sent again. */
  async function issueCode(session: Session): Promise<Transition> {
    const standing = await findStanding(session);
    // Erased in the meantime: there is nobody left to answer for.
    if (!standing) return failed(session, 'abandoned', new Date(clock.now()));
    const { id: keyId, bytes } = keyring.code.current;
    const code = { hash: sha256(deriveSecret(bytes, 'code', [session._id])), keyId };
    const { consentedClaims } = standing.enrollment;
    const consents = claimsAskedFor(session).some((name) => !consentedClaims.includes(name));
    return completed(session, { code, backing: backingOf(standing), consents }, new Date(clock.now()));
  }

  /** The code of a completed session, while it is of use to anybody. */
  async function usableCode({ _id, partnerId, mode, code }: Session): Promise<string | undefined> {
    const key = code && keyring.code.byId(code.keyId);
    if (!key || clock.now() >= code.expiresAt.getTime()) return undefined;
    if (await isCodeUsed({ partnerId, mode, codeHash: code.hash })) return undefined;
    return deriveSecret(key.bytes, 'code', [_id]);
  }

  /**
   * The redirect that ends the session; the same one again while that makes sense (double click, reload).
   * @throws ApiError `conflict` where the session is already finished
   */
  async function redirect(
    session: Session,
    stage: Extract<Stage, 'completed' | 'failed' | 'expired' | 'over'>,
  ) {
    const back = { redirectUri: session.redirectUri, state: session.state, issuer };
    if (stage === 'completed') {
      const code = await usableCode(session);
      if (code) return successRedirect(back, code);
    }
    const reason = reasonAt(session, stage);
    if (reason && stage !== 'over') return errorRedirect(back, reason);
    throw new ApiError('conflict', { description: 'This verification is already finished' });
  }

  return { detour, issueCode, redirect };
}
