import * as openid from 'openid-client';
import { inputFault } from '../../../contracts/input-text.ts';
import type { OidcSettings } from '../../../contracts/oidc-sources.ts';
import { sha256 } from '../../platform/ids.ts';
import { clockLeewayMs } from '../../platform/leeway.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import { deriveClaims } from './oidc-claims.ts';
import { type Authenticated, type Failed, type VerificationSource, verifyByCarriedClaims } from './source.ts';

interface Dependencies {
  /** Root of our links, without a trailing slash. */
  baseUrl: string;
  clock: { now(): number };
  logger: Pick<Logger, 'warn'>;
}

const timeoutSeconds = 8;
/** How long all requests to the provider for one return may take together: the user waits for them. */
const returnTimeoutMs = 15_000;
/** How long a provider's metadata is cached. The keys are read again when a token names an unknown one. */
const metadataLifetimeMs = 3_600_000;
/**
 * How many users may wait for the metadata of a provider together, when they begin. Their requests have places that all users
 * share, so a provider that hangs must not hold them all.
 */
const mostBeginning = 64;
/** How long a provider counts as unavailable after a failed request. Lists of methods then show it last. */
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

/** Reads and caches a provider's metadata (OpenID Connect Discovery 4). Simultaneous calls share one request. */
function createProvider(settings: OidcSettings) {
  const { issuer, clientId } = settings;
  const insecure = issuer.startsWith('http:') ? [openid.allowInsecureRequests] : [];
  let cached: { config: Promise<openid.Configuration>; at: number } | undefined;

  return function provider(): Promise<openid.Configuration> {
    if (cached && performance.now() - cached.at < metadataLifetimeMs) return cached.config;
    const metadata = { [openid.clockTolerance]: clockLeewayMs / 1000 };
    const config = openid.discovery(new URL(issuer), clientId, metadata, clientAuthentication(settings), {
      timeout: timeoutSeconds,
      // Verifies the signatures of ID tokens. Without this option, the client would rely on TLS alone.
      execute: [openid.enableNonRepudiationChecks, ...insecure],
    });
    const entry = { config, at: performance.now() };
    cached = entry;
    // The caller gets the error. The cache forgets it, so that the next call tries again.
    config.catch(() => {
      if (cached === entry) cached = undefined;
    });
    return config;
  };
}

/** Awaits `work`. @throws if it takes longer than `returnTimeoutMs` */
function withinReturnTimeout<T>(work: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(reject, returnTimeoutMs, new Error('the provider took too long')).unref();
  });
  return Promise.race([work, late]);
}

/** Summarizes an error for the log, without the provider's response, which contains personal data. */
function summaryOf(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { name: typeof error };
  // `error` is the error code in the provider's response.
  const { code, error: answered } = error as { code?: unknown; error?: unknown };
  return { name: error.name, message: error.message, code, answered };
}

/**
 * An OpenID provider as a verification source: authorization code with PKCE, `state`, `nonce` and, if the provider
 * sends it, `iss`. An invalid response ends the session with `source_error`.
 */
export function createOidcSource(settings: OidcSettings, dependencies: Dependencies): VerificationSource {
  const { name, label, issuer, modes, parameters } = settings;
  const { baseUrl, clock, logger } = dependencies;
  const provider = createProvider(settings);
  let downUntil = 0;
  let beginning = 0;
  const redirectUri = `${baseUrl}/verify/callback/${name}`;
  // If the settings ask for a recent authentication, the ID token has to prove it.
  const maxAge = parameters['max_age'] === undefined ? undefined : Number(parameters['max_age']);

  /** Requests the claims of the user who returned with `answer`. @throws if a response is invalid */
  async function requestClaims(
    answer: URLSearchParams,
    { state, nonce, codeVerifier }: AuthorizationRequest,
  ) {
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
    const userinfo =
      settings.userinfo && endpoint
        ? await openid.fetchUserInfo(config, tokens.access_token, idToken.sub)
        : undefined;
    // ID token and userinfo may both have verified claims, so these are joined. If both have another claim, the one of the
    // ID token is used, because it is signed.
    const verifiedClaims = [idToken['verified_claims'], userinfo?.['verified_claims']].flat().filter(Boolean);
    const verified = verifiedClaims.length > 0 ? { verified_claims: verifiedClaims } : {};
    const claims = { ...userinfo, ...idToken, ...verified };
    const fault = inputFault(claims);
    if (fault) throw new Error(`the provider's claims are not accepted: ${fault}`);
    // The decoder puts U+FFFD in the place of bytes that are not UTF-8, so two persons could become one.
    if (idToken.sub.includes('\uFFFD')) throw new Error('the subject is not UTF-8');
    return claims;
  }

  /** The failure of a return. The settings translate error codes of the provider; all else is `source_error`. */
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
      if (beginning >= mostBeginning) return { kind: 'down' };
      beginning += 1;
      try {
        const config = await provider();
        downUntil = 0;
        // The settings may replace the language, but nothing that the protocol needs: that follows after them.
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
      } finally {
        beginning -= 1;
      }
    },

    async finish(answer, attempt): Promise<Authenticated | Failed> {
      try {
        const claimsOfUser = await withinReturnTimeout(requestClaims(answer, attempt));
        const claims = deriveClaims(settings.claims, claimsOfUser, new Date(clock.now()));
        return {
          kind: 'authenticated',
          subject: JSON.stringify([issuer, claimsOfUser.sub]),
          carry: { claims },
        };
      } catch (error) {
        return failureOf(error);
      }
    },

    verify: verifyByCarriedClaims,
  };
}
