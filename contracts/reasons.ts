import { z } from 'zod';
import type { FailureReason } from './verification.ts';

/** The errors that a redirect can contain (interface 7.3). `invalid_request` is not included: `/verify/start` answers it with a 400. */
export type RedirectError =
  | 'access_denied'
  | 'verification_failed'
  | 'session_expired'
  | 'invalid_redirect_uri';

/**
 * A row of the table of reasons why a verification ends without a code. The redirect's `error` and `error_description`, the
 * `failure_reason` of the failed event, and `svcadmin sessions show` are derived from it.
 */
export interface ReasonRow {
  /** The `error` of the redirect (interface 7.3). */
  error: RedirectError;
  /** Whether the same person may succeed in a new session without a change by the partner. */
  retryable: boolean;
  /** The text for the partner. RFC 6749 4.1.2.1 allows printable ASCII without `"` and `\`. */
  text: string;
}

/** Reasons without a failed event: an expiry has none (interface section 6), and a removed redirect URI is no fault of the user. */
type Unreported = 'session_expired' | 'invalid_redirect_uri';
export type Reason = FailureReason | Unreported;

export const reasons = {
  abandoned: { error: 'verification_failed', retryable: true, text: 'the user cancelled the verification' },
  consent_declined: {
    error: 'access_denied',
    retryable: false,
    text: 'the user declined to share the claims',
  },
  document_rejected: {
    error: 'verification_failed',
    retryable: true,
    text: 'the verification source did not accept what the user presented; another document may do',
  },
  source_error: {
    error: 'verification_failed',
    retryable: true,
    text: 'the verification source did not answer, or its answer could not be trusted',
  },
  session_expired: {
    error: 'session_expired',
    retryable: true,
    text: 'the session was not completed within 30 minutes',
  },
  invalid_redirect_uri: {
    error: 'invalid_redirect_uri',
    retryable: false,
    text: 'the redirect_uri of this session is no longer registered for the client',
  },
} as const satisfies Record<Reason, ReasonRow>;

export const Reason = z.enum(Object.keys(reasons) as [Reason, ...Reason[]]);

/** Returns a text such as `document_rejected: the verification source did not …`. Programs read the part before the colon. */
export function describeReason(reason: Reason): string {
  return `${reason}: ${reasons[reason].text}`;
}
