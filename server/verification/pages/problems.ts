import type { ErrorCode } from '../../../contracts/errors.ts';
import type { Device, FailureReason } from '../../../contracts/verification.ts';
import type { ApiError } from '../../platform/errors.ts';
import type { Session } from '../session/session.ts';
import type { Messages, ProblemName } from './messages/messages.ts';

/** The page of an error. Errors that a user cannot resolve share one page. */
const byCode: Partial<Record<ErrorCode, ProblemName>> = {
  session_not_found: 'expired',
  unauthorized: 'otherBrowser',
  conflict: 'finished',
  cross_site_request: 'forged',
  route_not_found: 'notFound',
  method_not_allowed: 'notFound',
  invalid_request: 'invalid',
  invalid_redirect_uri: 'invalid',
  rate_limited: 'tooMany',
  passkey_refused: 'passkeyRefused',
  passkey_unknown: 'passkeyUnknown',
  passkey_other_mode: 'passkeyOtherMode',
};

/** The page of a session that ended in failure, for a user who comes back much later. */
const byFailure: Record<FailureReason, ProblemName> = {
  abandoned: 'cancelled',
  consent_declined: 'declined',
  document_rejected: 'rejected',
  source_error: 'sourceFailed',
};

/** Problems that showing the session's page again may solve. */
const retryable: readonly ProblemName[] = [
  'forged',
  'sourceDown',
  'tooManyTries',
  'unavailable',
  'passkeyRefused',
  'passkeyUnknown',
  'passkeyOtherMode',
];

export interface Problem {
  name: ProblemName;
  /** What was shared of the user's data; undefined if that is not known. */
  outcome: keyof Messages['outcome'] | undefined;
  retry: boolean;
  /** For the developer of the partner's application. */
  detail: string | undefined;
}

export interface ProblemContext {
  /** Which of its devices the request came from, where it was about a session. */
  device: Device | undefined;
  /** That session, where it is known and this browser's. */
  session: Session | undefined;
  /** Whether it is about the pages of a user's own data. */
  isYourData?: boolean;
}

function nameOf({ code }: ApiError, { device, session, isYourData }: ProblemContext): ProblemName {
  if (isYourData && code === 'rate_limited') return 'tooManyTries';
  if (device === 'phone' && (code === 'session_not_found' || code === 'unauthorized')) return 'linkDead';
  if (code === 'conflict' && session?.failure) return byFailure[session.failure.reason];
  // Within a session it is a form that is wrong, not the request of the partner's application.
  if ((device || isYourData) && code === 'invalid_request') return 'forged';
  return byCode[code] ?? 'unavailable';
}

function outcomeOf(name: ProblemName, { device, session, isYourData }: ProblemContext): Problem['outcome'] {
  if (isYourData) return undefined;
  if (name === 'otherBrowser' || name === 'linkDead') return 'nothingHere';
  if (session?.status === 'complete') return 'answersShared';
  if (session?.authenticatedAt) return 'signedIn';
  return device && !session ? undefined : 'nothingShared';
}

/** The error page for the user. */
export function problemOf(error: ApiError, context: ProblemContext): Problem {
  const name = nameOf(error, context);
  return {
    name,
    outcome: outcomeOf(name, context),
    retry: (context.device !== undefined || context.isYourData === true) && retryable.includes(name),
    detail: name === 'invalid' ? error.message : undefined,
  };
}
