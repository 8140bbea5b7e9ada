import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPartner, redirectUri, type TestPartner } from '../harness/partner.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { createBrowser, passFlow } from '../journey/browser.ts';

let server: TestServer;
let partner: TestPartner;
let issuer: URL;
beforeAll(async () => {
  server = await startTestServer();
  partner = await createPartner(server);
  issuer = new URL(server.baseUrl);
});
afterAll(() => server.stop());

/** Acts as the user, from the library's authorization URL to the partner's callback, and returns the callback's URL. */
const walk = (address: URL, person = 'adult') =>
  passFlow(createBrowser(server.baseUrl), address.href, person);
const scope = 'age_18_plus country';

describe.each([
  ['client_secret_post', openid.ClientSecretPost],
  ['client_secret_basic', openid.ClientSecretBasic],
] as const)('the client library openid-client with %s', (_name, authenticate) => {
  const discover = () =>
    openid.discovery(issuer, partner.clientId, undefined, authenticate(partner.clientSecret), {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    });

  it('completes discovery, start, exchange, userinfo and revocation', async () => {
    const config = await discover();
    const [pkceCodeVerifier, expectedState] = [openid.randomPKCECodeVerifier(), openid.randomState()];
    const start = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope,
      state: expectedState,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    });
    const back = await walk(start);
    const tokens = await openid.authorizationCodeGrant(config, back, { pkceCodeVerifier, expectedState });
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope });
    expect(tokens.expiresIn()).toBeGreaterThan(3590);

    const info = await openid.fetchUserInfo(config, tokens.access_token, openid.skipSubjectCheck);
    expect(info).toMatchObject({ claims: { age_18_plus: true, country: 'DE' } });
    await openid.tokenRevocation(config, tokens.access_token, { token_type_hint: 'access_token' });
    const gone = openid.fetchUserInfo(config, tokens.access_token, openid.skipSubjectCheck);
    await expect(gone).rejects.toBeInstanceOf(openid.WWWAuthenticateChallengeError);
  });

  it('throws verification_failed for a rejected document, and invalid_grant for a used code', async () => {
    const config = await discover();
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const expectedState = openid.randomState();
    const start = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope,
      state: expectedState,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    });
    const rejected = openid.authorizationCodeGrant(config, await walk(start, 'rejected'), {
      pkceCodeVerifier,
      expectedState,
    });
    await expect(rejected).rejects.toMatchObject({ error: 'verification_failed' });
    const back = await walk(start);
    const checks = { pkceCodeVerifier, expectedState };
    await openid.authorizationCodeGrant(config, back, checks);
    const again = openid.authorizationCodeGrant(config, back, checks);
    await expect(again).rejects.toMatchObject({ error: 'invalid_grant', status: 400 });
  });
});

describe.each([
  ['client_secret_post', oauth.ClientSecretPost],
  ['client_secret_basic', oauth.ClientSecretBasic],
] as const)('the client library oauth4webapi with %s', (_name, authenticate) => {
  const insecure = { [oauth.allowInsecureRequests]: true };

  it('completes every call from discovery to revocation', async () => {
    const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
    const as = await oauth.processDiscoveryResponse(issuer, discovered);
    const client: oauth.Client = { client_id: partner.clientId };
    const auth = authenticate(partner.clientSecret);
    const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()];
    const start = new URL(as.authorization_endpoint ?? '');
    start.search = new URLSearchParams({
      client_id: partner.clientId,
      response_type: 'code',
      redirect_uri: redirectUri,
      scope,
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }).toString();

    const callback = oauth.validateAuthResponse(as, client, await walk(start), state);
    const answer = await oauth.authorizationCodeGrantRequest(
      as,
      client,
      auth,
      callback,
      redirectUri,
      verifier,
      insecure,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(as, client, answer);
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope });

    const read = await oauth.userInfoRequest(as, client, tokens.access_token, insecure);
    const info = await oauth.processUserInfoResponse(as, client, oauth.skipSubjectCheck, read);
    expect(info).toMatchObject({ claims: { age_18_plus: true, country: 'DE' } });
    const claims = await oauth.validateJwtAccessToken(
      as,
      new Request(server.baseUrl, { headers: { authorization: `Bearer ${tokens.access_token}` } }),
      server.baseUrl,
      insecure,
    );
    expect(claims).toMatchObject({ sub: info.sub, client_id: partner.clientId });

    const revoked = await oauth.revocationRequest(as, client, auth, tokens.access_token, insecure);
    await oauth.processRevocationResponse(revoked);
    const gone = await oauth.userInfoRequest(as, client, tokens.access_token, insecure);
    expect(gone.status).toBe(401);
    await gone.text();
  });
});
