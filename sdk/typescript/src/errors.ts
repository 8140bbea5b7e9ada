import type { GeneralError, OAuthError } from './contract.ts';

/** The fields of every error of this package. */
export interface ErrorDetails {
  /** For programs. If the service answered, it is a code of the service's table of errors. */
  code: string;
  message: string;
  /** Whether the same call may succeed later without a change. */
  retryable: boolean;
  /** The guide that explains the error. It is a path without a host if the base URL of the service is not known. */
  docUrl: string;
  cause?: unknown;
}

/** Every error that this package throws. */
export class SvcError extends Error {
  readonly code: string;
  readonly retryable: boolean;
  readonly docUrl: string;

  constructor({ code, message, retryable, docUrl, cause }: ErrorDetails) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = code;
    this.retryable = retryable;
    this.docUrl = docUrl;
  }
}

/** A setting is missing or malformed. */
export class ConfigurationError extends SvcError {}

/** An argument of a call cannot be sent. `code` is `malformed_argument`. */
export class ArgumentError extends SvcError {}

/** The redirect does not answer an authorization request of this browser. */
export class CallbackError extends SvcError {}

/** The redirect says that the user was not verified. `code` is its `error`, such as `verification_failed`. */
export class AuthorizationError extends SvcError {
  /** The text before the colon of `error_description`, such as `document_rejected`. */
  readonly reason: string | undefined;
  /** The `session_id` of the failed session, as in its event `verification.session.failed`. */
  readonly sessionId: string | undefined;

  constructor(details: ErrorDetails, reason: string | undefined, sessionId?: string) {
    super(details);
    this.reason = reason;
    this.sessionId = sessionId;
  }
}

/** The delivery is not a webhook of the service, or it is too old. */
export class WebhookError extends SvcError {}

/** No answer arrived, or only a part of it. */
export class ConnectionError extends SvcError {}

/** The fields of an error that the service answered with. */
export interface AnswerDetails extends ErrorDetails {
  /** HTTP status. */
  status: number;
  /** The `X-Request-Id` of the answer. Support finds the request by it. */
  requestId: string | undefined;
  /** The time to wait before another try, from `Retry-After`. */
  retryAfterSeconds: number | undefined;
}

/** The service answered with an error. */
export class ApiError extends SvcError {
  readonly status: number;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(details: AnswerDetails) {
    super(details);
    this.status = details.status;
    this.requestId = details.requestId;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

/** 400: a parameter, the code or the scope is wrong. */
export class InvalidRequestError extends ApiError {}
/** 401: wrong credentials, signature or token. */
export class AuthenticationError extends ApiError {}
/** 402: the wallet holds less than the price. The code stays usable. */
export class PaymentRequiredError extends ApiError {}
/** 403: the enrollment is blocked, or the account is not active. */
export class AccessDeniedError extends ApiError {}
/** 404: no such session, code or shop. */
export class NotFoundError extends ApiError {}
/** 422: the user was verified, and the answer is no. */
export class NotVerifiedError extends ApiError {}
/** 429: a limit is exceeded. Send the same call again after `retryAfterSeconds`. */
export class RateLimitError extends ApiError {}
/** 5xx: the service could not answer, also after the retries. */
export class ServiceError extends ApiError {}

/** The code was exchanged before; `code` is `invalid_grant`. It was charged once, and cannot be exchanged again. */
export class CodeUsedError extends InvalidRequestError {
  /** The id of the charge, `txn_…`. */
  readonly chargeId: string;
  /**
   * Whether an earlier attempt of this call got no usable answer. Then that attempt most likely made the charge, and its token is
   * lost. Send the user to the start again, and ask support for a refund.
   */
  readonly answerLost: boolean;

  constructor(
    details: AnswerDetails,
    { chargeId, answerLost }: Pick<CodeUsedError, 'chargeId' | 'answerLost'>,
  ) {
    super(details);
    this.chargeId = chargeId;
    this.answerLost = answerLost;
  }
}

const errorClasses: Record<number, typeof ApiError> = {
  400: InvalidRequestError,
  401: AuthenticationError,
  402: PaymentRequiredError,
  403: AccessDeniedError,
  404: NotFoundError,
  422: NotVerifiedError,
  429: RateLimitError,
};

/** Seconds of `Retry-After`: a number, or a date (RFC 9110 10.2.3). */
export function retryAfterOf(headers: Headers, now: number): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+$/.test(value)) return Number(value);
  // `Date.parse` alone takes "5.5" for a day in May.
  const at = /^[A-Z][a-z]{2}, .* GMT$/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1000));
}

/** An answer with its body, which is read once. */
export interface Answer {
  status: number;
  headers: Headers;
  body: string;
}

/** Reads the code and the text of an error. An OAuth body has both. With a body of the general format, the code is in a header. */
function readError({ status, headers, body }: Answer): { code: string; text: string } {
  try {
    const parsed = JSON.parse(body) as Partial<OAuthError & GeneralError> | null;
    const { error, error_description: description } = parsed ?? {};
    const code = headers.get('x-svc-error');
    if (typeof error === 'string' && typeof description === 'string')
      return { code: error, text: description };
    if (typeof error === 'string' && code) return { code, text: error };
  } catch {
    // The answer may be a page of a proxy, which is not JSON.
  }
  return { code: 'unknown_answer', text: `the answer has status ${status} and is not one of the service` };
}

/** The address of the explanation: what the service names in `Link`, as a code may have an entry for each format of errors. */
function docUrlOf(headers: Headers, code: string, baseUrl: string): string {
  const [, named] = /<(https?:[^<>]*)>; *rel="help"/.exec(headers.get('link') ?? '') ?? [];
  return named ?? `${baseUrl}/docs/errors#${code}`;
}

/** Returns the fields of the error for an answer that is not a success. */
export function detailsOf(answer: Answer, baseUrl: string): AnswerDetails {
  const { status, headers } = answer;
  const { code, text } = readError(answer);
  return {
    code,
    message: `${code}: ${text}`,
    retryable: status === 429 || status >= 500,
    docUrl: docUrlOf(headers, code, baseUrl),
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: retryAfterOf(headers, Date.now()),
  };
}

/** Returns the error for an answer that is not a success. */
export function errorOf(answer: Answer, baseUrl: string): ApiError {
  const otherClass = answer.status >= 500 ? ServiceError : ApiError;
  const ErrorClass = errorClasses[answer.status] ?? otherClass;
  return new ErrorClass(detailsOf(answer, baseUrl));
}
