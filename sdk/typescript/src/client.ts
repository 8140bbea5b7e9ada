import { type Callback, type Expected, readCallback } from './callback.ts';
import type {
  ClaimName,
  SessionResponse,
  StorefrontRequest,
  StorefrontResponse,
  TokenResponse,
  UserinfoResponse,
  WebhookEvent,
} from './contract.ts';
import { base64url, bytesOf, hmacKey, randomText, toHex } from './encoding.ts';
import { type Answer, CodeUsedError, ConfigurationError, detailsOf, errorOf } from './errors.ts';
import { parseSuccess, send, type Transport } from './transport.ts';
import { type Delivery, verifyWebhook, type WebhookSettings } from './webhooks.ts';

/** The settings from support. Each function names those that it needs; the others may be absent. */
export interface Settings {
  /** The base URL of the service, `SVC_BASE_URL`. */
  baseUrl: string;
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  /** Registered for the client, byte for byte. */
  redirectUri?: string | undefined;
  apiKey?: string | undefined;
  webhookSecret?: string | undefined;
  integrationId?: string | undefined;
  integrationSecret?: string | undefined;
}

/** Replacements for tests and other platforms. */
export interface Options extends Partial<Omit<Transport, 'baseUrl'>> {}

/** The address for the user's browser, and the values to keep in the user's session until the redirect. */
export interface Visit {
  url: string;
  state: string;
  codeVerifier: string;
}

export interface Wanted {
  /** Claims that the user is asked to share. */
  scope: readonly (ClaimName | (string & {}))[];
  /** At least 16 characters; random unless given. */
  state?: string;
  /** Preferred languages of the pages, such as `de fr`. */
  uiLocales?: string;
  /** Yours, by which support finds the session: 1 to 200 characters of A-Z, a-z, 0-9, _ . : and -. No personal data. */
  clientReferenceId?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The settings of the file that support sends, from the environment: `settingsFrom(process.env)`. */
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

function refuseSetting(name: string, fault: string, baseUrl = ''): never {
  throw new ConfigurationError({
    code: 'missing_setting',
    message: `missing_setting: ${name} ${fault}`,
    retryable: false,
    docUrl: `${baseUrl}/docs/quickstart#what-is-in-the-file`,
  });
}

function withoutSlash(baseUrl: string): string {
  if (!/^https?:\/\//.test(baseUrl)) refuseSetting('baseUrl', 'is not set, or is no http or https address');
  return baseUrl.replace(/\/+$/, '');
}

function usedCode(answer: Answer & { uncertain: boolean }, baseUrl: string): CodeUsedError | undefined {
  const details = detailsOf(answer, baseUrl);
  const [chargeId] = details.code === 'invalid_grant' ? (/\btxn_\w+/.exec(details.message) ?? []) : [];
  return chargeId ? new CodeUsedError(details, { chargeId, answerLost: answer.uncertain }) : undefined;
}

/**
 * The functions of the interface for one account. Calls are repeated by interface 7.6: three attempts in all after a 5xx
 * or no answer, none after a 4xx. Every error is an `SvcError` with `code`, `retryable` and `docUrl`.
 * @throws ConfigurationError where `baseUrl` is missing; each function throws it for the settings that it needs
 */
export function createClient(settings: Settings, options: Options = {}) {
  const baseUrl = withoutSlash(settings.baseUrl);
  const transport: Transport = {
    fetch: (...parameters) => globalThis.fetch(...parameters),
    timeoutMs: 10_000,
    maxRetryAfterSeconds: 30,
    sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
    ...options,
    baseUrl,
  };
  const need = (name: keyof Settings): string => settings[name] || refuseSetting(name, 'is not set', baseUrl);
  const credentials = () => ({ client_id: need('clientId'), client_secret: need('clientSecret') });
  const post = (path: string, fields: Record<string, string>) =>
    send(transport, { path, init: () => ({ method: 'POST', body: new URLSearchParams(fields) }) });
  const get = async <T>(path: string, token: string): Promise<T> => {
    const headers = { authorization: `Bearer ${token}` };
    return parseSuccess(await send(transport, { path, init: () => ({ headers }) }), baseUrl);
  };

  /** Interface 5.4: over the bytes that are sent, at the time of the attempt. */
  async function signed(body: string): Promise<RequestInit> {
    const [id, timestamp] = [need('integrationId'), String(Math.floor(Date.now() / 1000))];
    const key = await hmacKey(bytesOf(need('integrationSecret')));
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
      state = randomText(24),
      uiLocales,
      clientReferenceId,
    }: Wanted): Promise<Visit> {
      const codeVerifier = randomText(32);
      const digest = await crypto.subtle.digest('SHA-256', bytesOf(codeVerifier));
      const query = new URLSearchParams({
        client_id: need('clientId'),
        redirect_uri: need('redirectUri'),
        scope: scope.join(' '),
        state,
        code_challenge: base64url(new Uint8Array(digest)),
        code_challenge_method: 'S256',
        ...(uiLocales ? { ui_locales: uiLocales } : {}),
        ...(clientReferenceId ? { client_reference_id: clientReferenceId } : {}),
      });
      return { url: `${baseUrl}/verify/start?${query}`, state, codeVerifier };
    },

    /**
     * Reads the redirect with which the user comes back. @param request its address, or path and query, or query
     * @throws CallbackError where it is not the answer to this browser's visit
     * @throws AuthorizationError where the user was not verified
     */
    callback: (request: string | URL | URLSearchParams, expected: Expected): Callback =>
      readCallback(request, expected, baseUrl),

    /**
     * Exchanges a code for an access token: one billable event. A code is never charged twice, even by repeated attempts.
     * @throws CodeUsedError if the code was charged before
     */
    async exchange({ code, codeVerifier }: { code: string; codeVerifier: string }): Promise<TokenResponse> {
      const answer = await post('/api/oauth/token', {
        grant_type: 'authorization_code',
        code,
        ...credentials(),
        redirect_uri: need('redirectUri'),
        code_verifier: codeVerifier,
      });
      if (answer.status === 400) throw usedCode(answer, baseUrl) ?? errorOf(answer, baseUrl);
      return parseSuccess(answer, baseUrl);
    },

    /** The claims of an access token, as they were when it was issued. */
    userinfo: (accessToken: string) => get<UserinfoResponse>('/api/oauth/userinfo', accessToken),

    /** Ends an access token. One that is unknown, expired or revoked is no error. */
    async revoke(accessToken: string): Promise<void> {
      const answer = await post('/api/oauth/revoke', { token: accessToken, ...credentials() });
      if (answer.status !== 200) throw errorOf(answer, baseUrl);
    },

    /** The status of a session, with the API key. @throws NotFoundError from 30 minutes after its start */
    session: async (sessionId: string): Promise<SessionResponse['session']> =>
      (await get<SessionResponse>(`/api/verify/hvf-session/${encodeURIComponent(sessionId)}`, need('apiKey')))
        .session,

    /**
     * Exchanges a code by a signed call of a storefront: one billable event. Every attempt sends the same bytes, and a
     * code is never charged twice. `verified` is always true: read the claim that the sale depends on.
     */
    async exchangeStorefront(request: StorefrontRequest): Promise<StorefrontResponse> {
      const body = JSON.stringify(request);
      const path = '/api/integrations/storefront/verify/exchange';
      return parseSuccess(await send(transport, { path, init: () => signed(body) }), baseUrl);
    },

    /** `verifyWebhook` with the secret of the settings. */
    verifyWebhook: (
      delivery: Delivery,
      more: Omit<WebhookSettings, 'secret' | 'baseUrl'> = {},
    ): Promise<WebhookEvent> =>
      verifyWebhook(delivery, { ...more, baseUrl, secret: settings.webhookSecret ?? '' }),
  };
}
export type Client = ReturnType<typeof createClient>;
