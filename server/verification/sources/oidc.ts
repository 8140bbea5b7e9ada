import * as openid from 'openid-client';
import type { OidcSettings } from '../../../contracts/oidc-sources.ts';
import { sha256 } from '../../platform/ids.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import { deriveClaims } from './oidc-claims.ts';
import { type Authenticated, type Failed, type VerificationSource, verifyCarried } from './source.ts';

interface Dependencies {
  /** Root of our links, without a trailing slash. */
  baseUrl: string;
  clock: { now(): number };
  logger: Pick<Logger, 'warn'>;
}

/** Seconds that the provider may take for an answer. */
const timeoutSeconds = 8;
/** Milliseconds for all requests to a provider about one return: a reload of the page waits for them. */
const returnTimeoutMs = 15_000;
/** Milliseconds for which the metadata of a provider is cached. Its keys are read again when one is unknown. */
const metadataLifetimeMs = 3_600_000;
/** Milliseconds for which a list of methods has a provider last that could not be reached. */
const downForMs = 60_000;

function clientAuthentication({
  clientSecret,
  clientAuthentication: method,
}: OidcSettings): openid.ClientAuth {
  if (clientSecret === undefined) return openid.None();
  return method === 'client_secret_basic'
    ? openid.ClientSecretBasic(clientSecret)
    : openid.ClientSecretPost(clientSecret);
}

/** Reads a provider's metadata (OpenID Connect Discovery 4), and again when it is old; a failure is not remembered. */
function createProvider(settings: OidcSettings) {
  const { issuer, clientId } = settings;
  const insecure = issuer.startsWith('http:') ? [openid.allowInsecureRequests] : [];
  let known: { config: Promise<openid.Configuration>; at: number } | undefined;

  return function provider(): Promise<openid.Configuration> {
    if (known && performance.now() - known.at < metadataLifetimeMs) return known.config;
    const config = openid.discovery(new URL(issuer), clientId, undefined, clientAuthentication(settings), {
      timeout: timeoutSeconds,
      // Signatures of ID tokens are verified, although the token endpoint's TLS might stand in for that.
      execute: [openid.enableNonRepudiationChecks, ...insecure],
    });
    const mine = { config, at: performance.now() };
    known = mine;
    config.catch(() => {
      if (known === mine) known = undefined;
    });
    return config;
  };
}

/** @throws where `work` takes longer than a return may */
function withinReturnTimeout<T>(work: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(reject, returnTimeoutMs, new Error('the provider took too long')).unref();
  });
  return Promise.race([work, late]);
}

/** Summary of an error, without the provider's answer, which has personal data. */
function summaryOf(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { name: typeof error };
  const { code, error: answered } = error as { code?: unknown; error?: unknown };
  return { name: error.name, message: error.message, code, answered };
}

/**
 * Any OpenID provider as a verification source, by configuration alone: authorization code with PKCE, `state`,
 * `nonce` and, where the provider has it, `iss`. Whatever does not fit ends the session as a `source_error`.
 */
export function createOidcSource(settings: OidcSettings, dependencies: Dependencies): VerificationSource {
  const { name, label, issuer, modes, parameters } = settings;
  const { baseUrl, clock, logger } = dependencies;
  const provider = createProvider(settings);
  let downUntil = 0;
  const redirectUri = `${baseUrl}/verify/callback/${name}`;
  const maxAge = parameters['max_age'] === undefined ? undefined : Number(parameters['max_age']);

  /** Claims of the user who returned with `answer`. @throws where the answer is invalid */
  async function ask(answer: URLSearchParams, { state, nonce, codeVerifier }: AuthorizationRequest) {
    const config = await provider();
    const tokens = await openid.authorizationCodeGrant(config, new URL(`${redirectUri}?${answer}`), {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: codeVerifier,
      idTokenExpected: true,
      ...(maxAge === undefined ? {} : { maxAge }),
    });
    const idToken = tokens.claims();
    if (!idToken) throw new Error('the provider sent no ID token');
    const { userinfo_endpoint: endpoint } = config.serverMetadata();
    const more =
      settings.userinfo && endpoint
        ? await openid.fetchUserInfo(config, tokens.access_token, idToken.sub)
        : undefined;
    const verifiedClaims = [idToken['verified_claims'], more?.['verified_claims']].flat().filter(Boolean);
    return { ...more, ...idToken, ...(verifiedClaims.length > 0 ? { verified_claims: verifiedClaims } : {}) };
  }

  function failureOf(error: unknown): Failed {
    const code = error instanceof openid.AuthorizationResponseError ? error.error : undefined;
    logger.warn({ why: summaryOf(error), source: name }, 'the verification source did not confirm a user');
    const reason =
      code !== undefined && Object.hasOwn(settings.failures, code) ? settings.failures[code] : undefined;
    return { kind: 'failed', reason: reason ?? 'source_error' };
  }

  return {
    name,
    modes,
    method: { kind: 'provider', label },
    answers: (claims) => claims.filter((claim) => settings.claims[claim] !== undefined),
    asksNumber: false,
    isDown: (now) => now < downUntil,

    async begin({ language }, attempt) {
      try {
        const config = await provider();
        downUntil = 0;
        const url = openid.buildAuthorizationUrl(config, {
          ...(language ? { ui_locales: language } : {}),
          ...parameters,
          redirect_uri: redirectUri,
          scope: settings.scope,
          state: attempt.state,
          nonce: attempt.nonce,
          code_challenge: sha256(attempt.codeVerifier),
          code_challenge_method: 'S256',
        });
        return { kind: 'provider', label, url: url.href };
      } catch (error) {
        downUntil = clock.now() + downForMs;
        logger.warn({ why: summaryOf(error), source: name }, 'the verification source cannot be reached');
        return { kind: 'down' };
      }
    },

    async finish(answer, attempt): Promise<Authenticated | Failed> {
      try {
        const said = await withinReturnTimeout(ask(answer, attempt));
        const claims = deriveClaims(settings.claims, said, new Date(clock.now()));
        return { kind: 'authenticated', subject: JSON.stringify([issuer, said.sub]), carry: { claims } };
      } catch (error) {
        return failureOf(error);
      }
    },

    verify: verifyCarried,
  };
}
