import { OpenidStart, openidScope, type StartError } from '../../../contracts/openid.ts';
import { StartQuery } from '../../../contracts/verification.ts';
import { ApiError } from '../../platform/errors.ts';
import type { OpenidRequest } from '../../sessions/session.ts';
import { withQuery } from './redirect-uri.ts';
import { clientFault, parseScope, type StartFacts } from './start-checks.ts';

/** A refusal of a start with the scope `openid`. `error` is sent to the partner; without a redirect, it is a 400. */
class OpenidRefusal extends ApiError {
  readonly error: StartError;

  constructor(error: StartError, description: string) {
    super('invalid_request', { description });
    this.error = error;
  }
}

/** Returns the refusal of a parameter that holds further parameters (OpenID Connect Core 6 and 7.2.1). */
function unsupportedIn(query: Readonly<Record<string, unknown>>): OpenidRefusal | undefined {
  const name = (['request', 'request_uri', 'registration'] as const).find(
    (each) => query[each] !== undefined,
  );
  const text = `${name} is not supported: send all parameters in the query`;
  return name && new OpenidRefusal(`${name}_not_supported`, text);
}

/**
 * Reads the parameters of a start with the scope `openid`. The flow itself satisfies the other values of `prompt`, because each
 * user authenticates and consents.
 * @throws OpenidRefusal
 */
export function readOpenid(query: StartQuery): OpenidRequest {
  const unsupported = unsupportedIn(query);
  if (unsupported) throw unsupported;
  const { success, data, error } = OpenidStart.safeParse(query);
  if (!success) {
    const [{ message } = { message: 'malformed' }] = error.issues;
    throw new OpenidRefusal('invalid_request', message);
  }
  const { nonce, prompt, max_age: maxAge } = data;
  if (prompt?.includes('none'))
    throw new OpenidRefusal('login_required', 'prompt none: the user always authenticates at this service');
  return {
    ...(nonce === undefined ? {} : { nonce }),
    ...(maxAge === undefined ? {} : { maxAge: maxAge * 1000 }),
  };
}

/** The errors of faults in these parameters. All others are `invalid_request`. */
const errorsByParameter: Readonly<Record<string, StartError>> = {
  scope: 'invalid_scope',
  response_type: 'unsupported_response_type',
};

function startErrorOf(error: ApiError): StartError {
  if (error instanceof OpenidRefusal) return error.error;
  // The text of a fault begins with the name of the parameter.
  const [parameter = ''] = /^\w+/.exec(error.message) ?? [];
  return errorsByParameter[parameter] ?? 'invalid_request';
}

/** The characters that RFC 6749 4.1.2.1 forbids in descriptions. */
const forbidden = /[^\x20-\x7e]|["\\]/g;

/**
 * Makes the function that returns where a refused start is redirected. That is so for OpenID Connect only, and if the client and
 * its redirect URI are right (OpenID Connect Core 3.1.2.6). Undefined for a page.
 */
export const createOpenidErrors =
  (readFacts: (clientId: string) => Promise<StartFacts>, issuer: string) =>
  async (query: unknown, error: ApiError): Promise<string | undefined> => {
    const client = StartQuery.pick({ client_id: true, redirect_uri: true }).safeParse(query);
    const { scope, state, ...others } = query as Readonly<Record<string, unknown>>;
    const isOpenid = typeof scope === 'string' && parseScope(scope).includes(openidScope);
    // It is unknown which value of a repeated parameter was meant.
    const isRepeated = Object.values(query as object).some(Array.isArray);
    if (error.code !== 'invalid_request' || !client.success || !isOpenid || isRepeated) return undefined;
    const facts = await readFacts(client.data.client_id);
    if (!facts.client?.openid || clientFault(client.data, facts) !== undefined) return undefined;
    // An unsupported parameter may be the reason why another one is missing.
    const refusal = unsupportedIn(others) ?? error;
    return withQuery(client.data.redirect_uri, {
      error: startErrorOf(refusal),
      error_description: refusal.message.replace(forbidden, '?'),
      ...(typeof state === 'string' ? { state } : {}),
      iss: issuer,
    });
  };
