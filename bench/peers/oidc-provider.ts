import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';
import { codeChallenge, type PartnerSet, redirectUri, scope } from '../contenders/contender.ts';
import type { PeerAddress } from '../contenders/peer.ts';
import { freePort } from '../processes.ts';
import { answerCalls } from '../remote.ts';
import { peerClient, peerClients } from './clients.ts';
import { connectPeer } from './mongo-storage.ts';
import { createInteractions, interactionPath } from './oidc-interactions.ts';
import { createMemoryAdapter } from './oidc-memory-adapter.ts';
import { createMongoAdapter, type OidcStorage } from './oidc-mongo-adapter.ts';

/**
 * A program: oidc-provider in memory, or on MongoDB if a connection string is given. In memory an exchange signs an ID
 * token, the default. On MongoDB it is plain OAuth 2.0 with an opaque access token and no signature. Clients come from
 * its configuration. Users log in and consent on two pages, and are identified by their input without a look-up.
 */
const [uri] = process.argv.slice(2);
const exchanged = uri ? scope : `openid ${scope}`;

const hour = 3600;
const claims = { age_18_plus: true, identity_verified: true };

function createProvider(origin: string, adapter: OidcStorage['adapter']): Provider {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return new Provider(origin, {
    adapter,
    clients: peerClients.map(({ clientId, clientSecret }) => ({
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_post',
      id_token_signed_response_alg: 'ES256',
    })),
    clientAuthMethods: ['client_secret_post'],
    scopes: ['openid', ...scope.split(' ')],
    claims: { openid: ['sub'], age_18_plus: ['age_18_plus'], identity_verified: ['identity_verified'] },
    findAccount: (_context, accountId) => ({
      accountId,
      claims: async () => ({ sub: accountId, ...claims }),
    }),
    features: { devInteractions: { enabled: false } },
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' }] },
    cookies: { keys: ['bench'] },
    ttl: { AccessToken: hour, AuthorizationCode: hour, Grant: hour, Interaction: hour, Session: hour },
  });
}

async function start(): Promise<PeerAddress & { provider: Provider; storage: OidcStorage }> {
  const storage = uri ? await createMongoAdapter(await connectPeer(uri)) : createMemoryAdapter();
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const provider = createProvider(origin, storage.adapter);
  const handle = provider.callback();
  const interact = createInteractions(provider);
  const server = createServer((request, response) => {
    if (!request.url?.startsWith(interactionPath)) void handle(request, response);
    else interact(request, response).catch((error) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { origin, provider, storage };
}

const started = start();

/** The state after a login with consent: a user with a grant, and the result of `make`. */
async function makeForUsers(
  { count, partnerSet, scopes }: { count: number; partnerSet: PartnerSet; scopes: string },
  make: (user: { accountId: string; grantId: string; clientId: string }) => Promise<string>,
): Promise<string[]> {
  const { provider, storage } = await started;
  const run = Date.now().toString(36);
  return storage.inBulk(async () => {
    const made: string[] = [];
    for (let n = 0; n < count; n += 1) {
      const { clientId } = peerClient(n, partnerSet);
      const accountId = `user-${run}-${n}`;
      const grant = new provider.Grant({ accountId, clientId });
      grant.addOIDCScope(scopes);
      made.push(await make({ accountId, clientId, grantId: await grant.save() }));
    }
    return made;
  });
}

async function clientOf(clientId: string) {
  const client = await (await started).provider.Client.find(clientId);
  if (!client) throw new Error(`no client ${clientId}`);
  return client;
}

answerCalls({
  start: async () => ({ origin: (await started).origin }),

  makeCodes: ({ count, partnerSet }: { count: number; partnerSet: PartnerSet }) =>
    makeForUsers({ count, partnerSet, scopes: exchanged }, async ({ accountId, grantId, clientId }) => {
      const { provider } = await started;
      const code = new provider.AuthorizationCode({
        accountId,
        grantId,
        client: await clientOf(clientId),
        gty: 'authorization_code',
        redirectUri,
        scope: exchanged,
        codeChallenge,
        codeChallengeMethod: 'S256',
      });
      return code.save();
    }),

  /** Records of earlier flows stay in place in memory. */
  forget: async () => (await started).storage.inBulk(async () => undefined),

  makeTokens: ({ count }: { count: number }) => {
    const scopes = `openid ${scope}`;
    return makeForUsers({ count, partnerSet: 'one', scopes }, async ({ accountId, grantId, clientId }) => {
      const { provider } = await started;
      const token = new provider.AccessToken({
        accountId,
        grantId,
        client: await clientOf(clientId),
        gty: 'authorization_code',
        scope: scopes,
      });
      return token.save();
    });
  },
});
