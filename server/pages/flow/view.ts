import type { SourceFailure } from '../../../contracts/verification.ts';
import type { Handoff, Session } from '../../sessions/session.ts';
import type { Asked, OfferedMethod } from '../../sessions/sources/session-source.ts';
import type { Beginning, Method } from '../../sessions/sources/source.ts';
import type { SessionPasskeys } from './session-passkeys.ts';

/** The page of the present step, or the redirect to the partner. */
export type View =
  /** `passkey`: options for a return by passkey; undefined if the client does not allow passkeys. */
  | { kind: 'consent'; session: Session; asked: Asked; passkey: PasskeyOptions | undefined }
  /** Asks whether the user wants to return by a passkey next time. */
  | { kind: 'save-passkey'; session: Session; passkey: PasskeyOptions }
  | { kind: 'begin'; session: Session; beginning: Beginning; asked: Asked }
  /** `last`: the method that the user tried before, and why it ended. */
  | {
      kind: 'methods';
      session: Session;
      offered: OfferedMethod[];
      last: { method: Method; reason: SourceFailure } | undefined;
    }
  /** `shown`: link and code for the phone; undefined once they have expired. */
  | { kind: 'handoff'; session: Session; shown: { token: string; code: string } | undefined }
  /** At the computer, while the user continues on the phone. */
  | { kind: 'waiting'; session: Session; handoff: Handoff }
  /** At the phone: asks the user whether the computer is theirs. */
  | { kind: 'confirm'; session: Session; handoff: Handoff }
  /** At the phone, when there is nothing left to do there. `succeeded`: the session continues at the computer. */
  | { kind: 'phone-over'; session: Session; succeeded: boolean }
  /**
   * To the partner. `viaPage`: a page of ours comes first, and leads to the partner. Browsers apply the `form-action`
   * policy of the source's last form to all redirects after it, and that policy may not allow the partner's site.
   */
  | { kind: 'leave'; session: Session; url: string; viaPage: boolean };

export type PasskeyOptions = Awaited<ReturnType<SessionPasskeys['saveOptions']>>;

/**
 * The secret of the browser's cookie was rotated by a form whose answer was lost, or by the phone's confirmation. The browser
 * has to load the page with the new one.
 */
export interface Renewal {
  kind: 'renew';
  session: Session;
  secret: string;
}
