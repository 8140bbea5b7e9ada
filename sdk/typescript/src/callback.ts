import { reasonIsRetryable } from './contract.ts';
import { AuthorizationError, CallbackError } from './errors.ts';

/** The parameters of the redirect after a success. */
export interface Callback {
  /** Lives 10 minutes and works once. */
  code: string;
  /** For `session`. */
  sessionId: string | undefined;
}

export interface Expected {
  /** The state of this browser's visit, as it was kept in the user's session. */
  state: string | undefined;
}

/** Compares texts in a time that depends on their lengths alone. */
function same(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let at = 0; at < a.length; at += 1)
    difference |= a.charCodeAt(at) ^ b.charCodeAt(at % (b.length || 1));
  return difference === 0;
}

function queryOf(request: string | URL | URLSearchParams): URLSearchParams {
  if (request instanceof URLSearchParams) return request;
  const text = request instanceof URL ? request.search : request;
  const query = text.includes('?') ? text.slice(text.indexOf('?') + 1) : text;
  return new URLSearchParams(query.split('#')[0]);
}

/**
 * Reads the redirect with which a user comes back: first that it is the answer to this browser's visit, then what it says.
 * @param request the address, its path and query, or its query
 * @throws CallbackError `missing_state`, `state_mismatch`, `issuer_mismatch`, `repeated_parameter` or `missing_code`
 * @throws AuthorizationError where the user was not verified
 */
export function readCallback(
  request: string | URL | URLSearchParams,
  { state }: Expected,
  issuer: string,
): Callback {
  const docUrl = `${issuer}/docs/flow#the-user-comes-back`;
  const refusal = (code: string, message: string) =>
    new CallbackError({ code, message: `${code}: ${message}`, retryable: false, docUrl });
  const query = queryOf(request);
  const once = (name: string): string | undefined => {
    if (query.getAll(name).length > 1) throw refusal('repeated_parameter', `${name} is given twice`);
    return query.get(name) || undefined;
  };

  if (!state) throw refusal('missing_state', 'this browser has begun no visit, or its session is over');
  if (!same(once('state') ?? '', state))
    throw refusal('state_mismatch', 'state is not the one of this browser');
  if (once('iss') !== issuer) throw refusal('issuer_mismatch', `iss is not ${issuer}`);
  const error = once('error');
  if (error !== undefined) {
    const description = once('error_description') ?? '';
    const [, reason] = /^([a-z_]+): /.exec(description) ?? [];
    // `=== true`: a name of the prototype is no reason.
    const retryable = reason !== undefined && reasonIsRetryable[reason] === true;
    const message = description ? `${error}: ${description}` : error;
    const docs = `${issuer}/docs/errors#redirects-back-to-the-partner`;
    throw new AuthorizationError(
      { code: error, message, retryable, docUrl: docs },
      reason,
      once('session_id'),
    );
  }
  const code = once('code');
  if (code === undefined) throw refusal('missing_code', 'there is neither a code nor an error');
  return { code, sessionId: once('session_id') };
}
