import { newStart, startUrl } from '../journey/pkce.ts';
import { openPages } from '../sessions/sources/oidc-site.ts';
import { clientId, clientSecret, signIn, startProvider } from '../sessions/sources/provider.ts';
import { freePort } from './free-port.ts';
import { createPartner } from './partner.ts';
import { startTestServer, type TestServer } from './server.ts';

type Settings = NonNullable<Parameters<typeof startTestServer>[0]>;

/**
 * Starts the whole service with one OpenID provider. The provider is the source `bank` in both modes, and `test-bank` in
 * test mode only. The caller stops the service; this stops the provider too.
 */
export async function startWithBank({ env = {}, ...settings }: Settings = {}) {
  const port = await freePort();
  const provider = await startProvider(`http://localhost:${port}/verify/callback/bank`);
  const bank = {
    name: 'bank',
    label: 'The bank',
    issuer: provider.issuer,
    clientId,
    clientSecret,
    scope: 'openid profile address loa',
    claims: { age_18_plus: { birthdate: 'birthdate' }, country: { claim: 'address.country' } },
  };
  const sources = [bank, { ...bank, name: 'test-bank', modes: ['test'] }];
  const server = await startTestServer({
    env: { SVC_PORT: String(port), SVC_OIDC_SOURCES: JSON.stringify(sources), ...env },
    ...settings,
  });
  return {
    ...server,
    async stop() {
      await server.stop();
      await provider.close();
    },
  };
}

interface ClientOfUser {
  clientId: string;
  redirectUri: string;
}

/** Verifies a user at the bank, from `/verify/start` to the partner's redirect. @returns the code of the redirect */
export async function verifyAtBank(
  server: Pick<TestServer, 'baseUrl'>,
  client: ClientOfUser,
  person = 'adult',
) {
  const { baseUrl } = server;
  const { codeVerifier, codeChallenge, state } = newStart();
  const pages = openPages(server);
  const scope = 'age_18_plus country';
  const consent = await pages.open(startUrl({ ...client, baseUrl, scope, state, codeChallenge }));
  const page = await pages.open(consent.at, { ...consent.fields, decision: 'accept' });
  const { returned } = await pages.open(await signIn(page.provider, person));
  if (!returned?.['code']) throw new Error(`no code, but ${JSON.stringify(returned)}`);
  const [sessionId = ''] = /ses_[0-9A-Za-z]{22}/.exec(consent.at) ?? [];
  return { code: returned['code'], codeVerifier, sessionId };
}

/** Creates a partner whose test client verifies users at the bank. */
export const createBankPartner = (server: Pick<TestServer, 'admin'>) =>
  createPartner(server, { client: { sources: ['bank'], claims: ['age_18_plus', 'country'] } });
