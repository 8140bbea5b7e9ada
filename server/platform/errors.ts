import { type ErrorCode, errorTable, generalText } from '../../contracts/errors.ts';
import type { OAuthError } from '../../contracts/oauth.ts';
import type { GeneralError } from '../../contracts/verification.ts';

interface ErrorExtras {
  /** Text for the caller, more precise than the table's. Never holds a secret or another party's data. */
  description?: string | undefined;
  /** Seconds after which the same request may succeed: becomes `Retry-After`. */
  retryAfter?: number;
  /** Further response headers, in lower case. */
  headers?: Readonly<Record<string, string>>;
  /** Whether a caller in test mode asked for this error, so it is not a fault of the service. */
  rehearsed?: boolean;
  /** Whether the error was logged where it was thrown, for example one in many. The error handler does not log it again. */
  logged?: boolean;
  /** Further information for the log; never sent. */
  detail?: unknown;
  cause?: unknown;
}

/** The most characters of a description: callers read it, and each log line of a refusal has it. */
const longestDescription = 2_048;

/** An error response. Its status and texts come from the error table. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly extras: ErrorExtras;

  constructor(code: ErrorCode, extras: ErrorExtras = {}) {
    const description = extras.description?.slice(0, longestDescription);
    super(description ?? errorTable[code].text, { cause: extras.cause });
    this.name = 'ApiError';
    this.code = code;
    this.extras = { ...extras, description };
  }

  get status(): number {
    return errorTable[this.code].status;
  }

  /** The response headers: those of `extras`, and `retry-after` in whole seconds, at least 1. */
  get headers(): Record<string, string> {
    const { retryAfter, headers } = this.extras;
    return {
      ...headers,
      ...(retryAfter === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) }),
    };
  }
}

/** Returns what was looked up. @throws ApiError `not_found` with this description if there is nothing */
export function requireFound<T>(found: T | null | undefined, description: string): T {
  if (found === null || found === undefined) throw new ApiError('not_found', { description });
  return found;
}

/** `Retry-After` in seconds while the database cannot be reached. */
export const unavailableRetryAfter = 5;

/** The 503 for work that is not possible at present. */
export function unavailable(cause?: unknown): ApiError {
  return new ApiError('service_unavailable', { retryAfter: unavailableRetryAfter, cause });
}

/** Interface 2.4: `{error, error_description}`. Codes without an OAuth name get the general one of their status. */
export function oauthBody(error: ApiError): OAuthError {
  const fallback = error.status < 500 ? 'invalid_request' : 'server_error';
  return { error: errorTable[error.code].oauth ?? fallback, error_description: error.message };
}

/** Interface 7.1: `{success: false, error}`. */
export function generalBody(error: ApiError): GeneralError {
  return { success: false, error: error.extras.description ?? generalText(error.code) };
}

/** The error for an unusable environment, with all faults. */
export class ConfigError extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(['The environment is not usable:', ...faults.map((fault) => `  ${fault}`)].join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}
