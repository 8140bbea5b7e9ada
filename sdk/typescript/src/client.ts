import { type Callback, type ExpectedState, readCallback } from './callback.ts';
import type {
  ClaimName,
  OpenidTokenResponse,
  SessionResponse,
  StorefrontRequest,
  StorefrontResponse,
  TokenResponse,
  UserinfoResponse,
  WebhookEvent,
} from './contract.ts';
import { base64url, bytesOf, hmacKey, randomText, toHex } from './encoding.ts';
import { CodeUsedError, detailsOf, errorOf } from './errors.ts';
import { checkArguments, readSettings, refusedArgument, refuseSetting, type Settings } from './input.ts';
import {
  type Members,
  malformedAnswer,
  type Outcome,
  parseSuccess,
  send,
  type Transport,
} from './transport.ts';
import { type Delivery, verifyWebhook, type WebhookSettings } from './webhooks.ts';

/** Replacements for tests and other platforms. */
export interface Options extends Partial<Omit<Transport, 'baseUrl'>> {}

/** The number of random bytes of a `state`. */
const stateBytes = 24;
/** The number of random bytes of a PKCE verifier, which RFC 7636 4.1 recommends. */
const codeVerifierBytes = 32;

/** The address for the user's browser, and the values to keep in the user's session until the redirect. */
export interface Visit {
  url: string;
  state: string;
  codeVerifier: string;
}

export interface AuthorizationOptions {
  /** Claims that the user is asked to share, and `openid` for an ID token. `string & {}` also accepts claims of a later version. */
  scope: readonly (ClaimName | (string & {}))[];
  /** At least 16 characters; random unless given. */
  state?: string;
  /** Preferred languages of the pages, such as `de fr`. */
  uiLocales?: string;
  /**
   * Your own id for the session, by which support finds it. 1 to 200 characters of A-Z, a-z, 0-9, _ . : and -, without personal
   * data.
   */
  clientReferenceId?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings from environment variables: `settingsFrom(process.env)`. The file that support sends sets these variables. If the
 * base URL is missing, it is empty, and `createClient` refuses it.
 */
export function settingsFrom(env: Environment): Settings {
  return {
    baseUrl: env['SVC_BASE_URL'] ?? '',
    clientId: env['SVC_CLIENT_ID'],
    clientSecret: env['SVC_CLIENT_SECRET'],
    redirectUri: env['SVC_REDIRECT_URI'],
    apiKey: env['SVC_API_KEY'],
    webhookSecret: env['SVC_WEBHOOK_SECRET'],
    integrationId: env['SVC_INTEGRATION_ID'],
    integrationSecret: env['SVC_INTEGRATION_SECRET'],
  };
}

/** Returns the error of a code that was exchanged before; undefined for any other error. The answer names the charge. */
function usedCodeError(answer: Outcome, baseUrl: string): CodeUsedError | undefined {
  const details = detailsOf(answer, baseUrl);
  if (details.code !== 'invalid_grant') return undefined;
  const chargeId = /\btxn_\w+/.exec(details.message)?.[0];
  return chargeId ? new CodeUsedError(details, { chargeId, answerLost: answer.wasRepeated }) : undefined;
}

/**
 * Makes the functions of the interface for one account. A call has at most three attempts (interface 7.6). It is repeated after a 5xx
 * or a missing answer, and never after a 4xx. Every error is an `SvcError` with `code`, `retryable` and `docUrl`.
 * Settings are trimmed.
 * @throws ConfigurationError if `baseUrl` is missing or a setting is malformed; each function throws it if one that it needs is
 *   missing, and ArgumentError for an argument that cannot be sent
 */
export function createClient(given: Settings, options: Options = {}) {
  const settings = readSettings(given);
  const { baseUrl } = settings;
  const transport: Transport = {
    // The global `fetch` is looked up for each call, so that a later replacement of it is used.
    fetch: (...parameters) => globalThis.fetch(...parameters),
    timeoutMs: 10_000,
    maxRetryAfterSeconds: 30,
    sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
    ...options,
    baseUrl,
  };
  const requireSetting = (name: keyof Settings): string =>
    settings[name] ?? refuseSetting(name, 'is not set', 'missing_setting', baseUrl);
  const credentials = () => ({
    client_id: requireSetting('clientId'),
    client_secret: requireSetting('clientSecret'),
  });
  const post = (path: string, fields: Record<string, string>) =>
    send(transport, { path, init: () => ({ method: 'POST', body: new URLSearchParams(fields) }) });
  const get = async <T>(path: string, token: string, members: Members): Promise<T> => {
    const headers = { authorization: `Bearer ${token}` };
    return parseSuccess(await send(transport, { path, init: () => ({ headers }) }), baseUrl, members);
  };

  /** @throws ArgumentError if the value is no JSON object, or is circular */
  function toJson(request: unknown): string {
    try {
      const body = JSON.stringify(request);
      if (typeof request === 'object' && request !== null && !Array.isArray(request)) return body;
    } catch (cause) {
      throw refusedArgument('request', 'is no JSON', baseUrl, cause);
    }
    throw refusedArgument('request', 'is no object', baseUrl);
  }

  /** Signs a request of a storefront (interface 5.4). Each attempt needs a new signature, because it covers the time. */
  async function signRequest(body: string): Promise<RequestInit> {
    const id = requireSetting('integrationId');
    const timestamp = String(Math.floor(Date.now() / 1000));
    const key = await hmacKey(bytesOf(requireSetting('integrationSecret')));
    const signature = toHex(await crypto.subtle.sign('HMAC', key, bytesOf(`${id}.${timestamp}.${body}`)));
    const headers = {
      'content-type': 'application/json',
      'x-svc-integration-id': id,
      'x-svc-timestamp': timestamp,
      'x-svc-signature': `sha256=${signature}`,
    };
    return { method: 'POST', headers, body };
  }

  return {
    /** Returns the address for the user's browser. Keep `state` and `codeVerifier` in the user's session. */
    async authorizationUrl({
      scope,
      state = randomText(stateBytes),
      uiLocales,
      clientReferenceId,
    }: AuthorizationOptions): Promise<Visit> {
      const chosen = {
        // A text with spaces is accepted too, as in OAuth.
        scope: Array.isArray(scope) ? scope.join(' ') : (scope as unknown as string),
        state,
        ...(uiLocales ? { ui_locales: uiLocales } : {}),
        ...(clientReferenceId ? { client_reference_id: clientReferenceId } : {}),
      };
      const codeVerifier = randomText(codeVerifierBytes);
      const digest = await crypto.subtle.digest('SHA-256', bytesOf(codeVerifier));
      const query = new URLSearchParams({
        client_id: requireSetting('clientId'),
        redirect_uri: requireSetting('redirectUri'),
        ...checkArguments(chosen, baseUrl),
        code_challenge: base64url(new Uint8Array(digest)),
        code_challenge_method: 'S256',
        response_type: 'code',
      });
      return { url: `${baseUrl}/verify/start?${query}`, state, codeVerifier };
    },

    /**
     * Reads the redirect with which the user comes back.
     * @param request the full address, only its path and query, or only its query
     * @throws CallbackError if it does not answer an authorization request of this browser
     * @throws AuthorizationError if the user was not verified
     */
    callback: (request: string | URL | URLSearchParams, expected: ExpectedState): Callback =>
      readCallback(request, expected, baseUrl),

    /**
     * Exchanges a code for an access token: one billable event. A code is never charged twice, even by repeated attempts.
     * After a start with the scope `openid`, the result also has `id_token`. Verify it, for instance with jose, before you use it.
     * @throws CodeUsedError if the code was charged before
     */
    async exchange({
      code,
      codeVerifier,
    }: {
      code: string;
      codeVerifier: string;
    }): Promise<TokenResponse & Partial<Pick<OpenidTokenResponse, 'id_token'>>> {
      const answer = await post('/api/oauth/token', {
        grant_type: 'authorization_code',
        ...checkArguments({ code, code_verifier: codeVerifier }, baseUrl),
        ...credentials(),
        redirect_uri: requireSetting('redirectUri'),
      });
      if (answer.status === 400) throw usedCodeError(answer, baseUrl) ?? errorOf(answer, baseUrl);
      return parseSuccess(answer, baseUrl, { access_token: 'string' });
    },

    /** Reads the claims of an access token, as they were when it was issued. */
    async userinfo(accessToken: string): Promise<UserinfoResponse> {
      checkArguments({ accessToken }, baseUrl);
      return get('/api/oauth/userinfo', accessToken, { sub: 'string', claims: 'object' });
    },

    /** Ends an access token. If the token is unknown, expired or already revoked, this does nothing. */
    async revoke(accessToken: string): Promise<void> {
      const answer = await post('/api/oauth/revoke', {
        ...checkArguments({ token: accessToken }, baseUrl),
        ...credentials(),
      });
      if (answer.status !== 200) throw errorOf(answer, baseUrl);
      if (answer.body !== '') throw malformedAnswer(baseUrl);
    },

    /** Reads the status of a session, with the API key. @throws NotFoundError from 30 minutes after its start */
    async session(sessionId: string): Promise<SessionResponse['session']> {
      checkArguments({ sessionId }, baseUrl);
      const path = `/api/verify/hvf-session/${encodeURIComponent(sessionId)}`;
      const { session } = await get<SessionResponse>(path, requireSetting('apiKey'), { session: 'object' });
      return session;
    },

    /**
     * Exchanges a code by a signed call of a storefront: one billable event. Every attempt sends the same bytes, and a
     * code is never charged twice. `verified` is always true: read the claim that the sale depends on.
     */
    async exchangeStorefront(request: StorefrontRequest): Promise<StorefrontResponse> {
      const body = toJson(request);
      const path = '/api/integrations/storefront/verify/exchange';
      const answer = await send(transport, { path, init: () => signRequest(body) });
      return parseSuccess(answer, baseUrl, { verified: 'boolean', claims: 'object' });
    },

    /** `verifyWebhook` with the secret of the settings. If the setting is missing, it throws `secret_required`. */
    verifyWebhook: (
      delivery: Delivery,
      more: Omit<WebhookSettings, 'secret' | 'baseUrl'> = {},
    ): Promise<WebhookEvent> =>
      verifyWebhook(delivery, { ...more, baseUrl, secret: settings.webhookSecret ?? '' }),
  };
}
export type Client = ReturnType<typeof createClient>;
