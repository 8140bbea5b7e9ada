import { reasonIsRetryable } from './contract.ts';
import { AuthorizationError, CallbackError } from './errors.ts';

/** The parameters of the redirect after a success. */
export interface Callback {
  /** The authorization code. It is valid for 10 minutes, and can be exchanged once. */
  code: string;
  /** The id by which `session` of the client reads the session. */
  sessionId: string | undefined;
}

export interface ExpectedState {
  /** The `state` of the authorization request, which was kept in the user's session. */
  state: string | undefined;
}

/** Compares two texts. The time depends only on their lengths, so that it tells nothing about the characters of the secret `state`. */
function isEqual(given: string, expected: string): boolean {
  if (given.length !== expected.length) return false;
  let difference = 0;
  for (let index = 0; index < given.length; index += 1)
    difference |= given.charCodeAt(index) ^ expected.charCodeAt(index);
  return difference === 0;
}

/** Returns the query of a full address, of a path with its query, or of a query alone. */
function queryOf(request: string | URL | URLSearchParams): URLSearchParams {
  if (request instanceof URLSearchParams) return request;
  const text = request instanceof URL ? request.search : String(request);
  const query = text.includes('?') ? text.slice(text.indexOf('?') + 1) : text;
  // URLSearchParams of Node.js 20 loses raw non-ASCII text after a malformed escape. `#` keeps spaces at the end.
  return new URL(`?${query.split('#')[0]}#`, 'https://callback.invalid').searchParams;
}

/**
 * Reads the redirect with which a user comes back. It first checks that the redirect answers an authorization request of this browser.
 * @param request the full address, only its path and query, or only its query
 * @param issuer the base URL of the service, which the redirect must have as `iss`
 * @throws CallbackError `missing_state`, `state_mismatch`, `issuer_mismatch`, `repeated_parameter` or `missing_code`
 * @throws AuthorizationError if the user was not verified
 */
export function readCallback(
  request: string | URL | URLSearchParams,
  { state }: ExpectedState,
  issuer: string,
): Callback {
  const docUrl = `${issuer}/docs/flow#the-user-comes-back`;
  const refusal = (code: string, message: string) =>
    new CallbackError({ code, message: `${code}: ${message}`, retryable: false, docUrl });
  const query = queryOf(request);
  /** Reads a parameter of the redirect. An empty parameter counts as absent. */
  const readParameter = (name: string): string | undefined => {
    if (query.getAll(name).length > 1) throw refusal('repeated_parameter', `${name} is given twice`);
    return query.get(name) || undefined;
  };

  if (!state)
    throw refusal('missing_state', 'this browser has begun no verification, or its session is over');
  if (!isEqual(readParameter('state') ?? '', state))
    throw refusal('state_mismatch', 'state is not the one of this browser');
  if (readParameter('iss') !== issuer) throw refusal('issuer_mismatch', `iss is not ${issuer}`);
  const error = readParameter('error');
  if (error !== undefined) {
    const description = readParameter('error_description') ?? '';
    const reason = /^(?<reason>[a-z_]+): /.exec(description)?.groups?.['reason'];
    // `=== true`, because a description may begin with a name such as `constructor`, which every object has.
    const retryable = reason !== undefined && reasonIsRetryable[reason] === true;
    const message = description ? `${error}: ${description}` : error;
    const docs = `${issuer}/docs/errors#redirects-back-to-the-partner`;
    throw new AuthorizationError(
      { code: error, message, retryable, docUrl: docs },
      reason,
      readParameter('session_id'),
    );
  }
  const code = readParameter('code');
  if (code === undefined) throw refusal('missing_code', 'there is neither a code nor an error');
  return { code, sessionId: readParameter('session_id') };
}
