import type { ErrorCode } from '../../../contracts/errors.ts';
import type { Device, FailureReason } from '../../../contracts/verification.ts';
import type { ApiError } from '../../platform/errors.ts';
import type { Session } from '../../sessions/session.ts';
import type { Messages, ProblemName } from '../messages/en.ts';

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

/** The page of a failed session that has expired since. Before that, the user is redirected to the partner. */
const byFailure: Record<FailureReason, ProblemName> = {
  abandoned: 'cancelled',
  consent_declined: 'declined',
  document_rejected: 'rejected',
  source_error: 'sourceFailed',
};

/** Problems that may be gone when the session's page is loaded again. */
const retryable: readonly ProblemName[] = [
  'forged',
  'sourceDown',
  'tooManyTries',
  'unavailable',
  'passkeyRefused',
  'passkeyUnknown',
  'passkeyOtherMode',
];

export interface ProblemContext {
  /** The session's device that sent the request; undefined if the request was not about a session. */
  device: Device | undefined;
  /** The session, if it exists and belongs to this browser. */
  session: Session | undefined;
  /** Whether the request was for the pages of a user's own data. */
  isYourData?: boolean;
}

/** The page that explains an error. Some codes mean something else to the user in a session, or in the user's data. */
function nameOf({ code }: ApiError, { device, session, isYourData }: ProblemContext): ProblemName {
  // Here the user's own tries are limited. Elsewhere, it is all verifications that are started from a network.
  if (isYourData && code === 'rate_limited') return 'tooManyTries';
  // A phone gets access to a session only by a link, so its page is about the link while it has no session.
  if (device === 'phone' && !session && (code === 'session_not_found' || code === 'unauthorized'))
    return 'linkDead';
  // The page tells how the session has failed. Without a failure, it can only tell that the session is finished.
  if (code === 'conflict' && session?.failure) return byFailure[session.failure.reason];
  // Within a session, a form of ours was invalid, not the request of the partner's application.
  if ((device || isYourData) && code === 'invalid_request') return 'forged';
  return byCode[code] ?? 'unavailable';
}

/**
 * What the page says about the user's data, by the step that the session had reached. Undefined if the page says nothing.
 */
function outcomeOf(
  name: ProblemName,
  { device, session, isYourData }: ProblemContext,
): keyof Messages['outcome'] | undefined {
  // These pages share nothing with a partner.
  if (isYourData) return undefined;
  // The session belongs to another browser or device. The page can only say that nothing was shared from this one.
  if (name === 'otherBrowser' || name === 'linkDead') return 'nothingHere';
  if (session?.status === 'complete') return 'answersShared';
  if (session?.authenticatedAt) return 'signedIn';
  // The session could not be read, so its progress is not known.
  if (device && !session) return undefined;
  return 'nothingShared';
}

/**
 * The content of the page about an error.
 * @returns `retry`: whether the page has a button that loads the failed page again. `withoutPasskey`: whether this button says
 * to go on without the passkey. `detail`: a text for the developer of the
 * partner's application
 */
export function problemOf(error: ApiError, context: ProblemContext) {
  const name = nameOf(error, context);
  // All other requests, such as a start by the partner, have no page that could be loaded again.
  const hasPage = context.device !== undefined || context.isYourData === true;
  return {
    name,
    outcome: outcomeOf(name, context),
    retry: hasPage && retryable.includes(name),
    withoutPasskey: name === 'passkeyUnknown' || name === 'passkeyOtherMode',
    detail: name === 'invalid' ? error.message : undefined,
    isYourData: context.isYourData,
  };
}
