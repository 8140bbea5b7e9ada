import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import OAuth2Server from '@node-oauth/oauth2-server';
import type { Collection } from 'mongodb';
import { codeChallenge, type PartnerSet, redirectUri, scope } from '../contenders/contender.ts';
import type { PeerAddress } from '../contenders/peer.ts';
import { freePort } from '../processes.ts';
import { answerCalls } from '../remote.ts';
import { peerClient, peerClients } from './clients.ts';
import { connectPeer, preparing } from './mongo-storage.ts';

/**
 * A program: @node-oauth/oauth2-server on MongoDB, with only node:http in front. Its clients are in memory. Codes and
 * tokens are one document each, and are read, deleted and inserted with the journal.
 */
const [uri = ''] = process.argv.slice(2);

interface Code {
  _id: string;
  authorizationCode: string;
  expiresAt: Date;
  redirectUri: string;
  scope: string[];
  codeChallenge: string;
  codeChallengeMethod: string;
  clientId: string;
  userId: string;
}
interface Token extends Record<string, unknown> {
  _id: string;
}

const hour = 3600;
const clients = new Map(
  peerClients.map(({ clientId, clientSecret }) => [
    clientId,
    {
      secret: clientSecret,
      client: { id: clientId, grants: ['authorization_code'], redirectUris: [redirectUri] },
    },
  ]),
);

function modelOf(codes: Collection<Code>, tokens: Collection<Token>): OAuth2Server.AuthorizationCodeModel {
  return {
    async getClient(id, secret) {
      const known = clients.get(id);
      return known?.secret === secret ? known.client : false;
    },
    async getAuthorizationCode(_id) {
      const code = await codes.findOne({ _id });
      const known = code && clients.get(code.clientId);
      return known ? { ...code, client: known.client, user: { id: code.userId } } : false;
    },
    async revokeAuthorizationCode({ authorizationCode }) {
      return (await codes.deleteOne({ _id: authorizationCode })).deletedCount === 1;
    },
    async saveToken(token, client, user) {
      const { accessToken, ...rest } = token;
      await tokens.insertOne({ _id: accessToken, ...rest, clientId: client.id, userId: user['id'] });
      return { ...token, client, user };
    },
    saveAuthorizationCode: async () => false,
    getAccessToken: async () => false,
    validateScope: async (_user, _client, wanted) => wanted ?? [],
  };
}

async function formOf(request: IncomingMessage): Promise<Record<string, string>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
}

async function answerToken(oauth: OAuth2Server, request: IncomingMessage, response: ServerResponse) {
  const answer = new OAuth2Server.Response({});
  const { method = '', headers } = request;
  const wanted = {
    method,
    query: {},
    headers: headers as Record<string, string>,
    body: await formOf(request),
  };
  await oauth.token(new OAuth2Server.Request(wanted), answer).catch((error: unknown) => {
    if (!(error instanceof OAuth2Server.OAuthError)) throw error;
    answer.status = error.code;
  });
  const body = JSON.stringify(answer.body);
  const length = Buffer.byteLength(body);
  response.writeHead(answer.status ?? 500, {
    ...answer.headers,
    'content-type': 'application/json',
    'content-length': length,
  });
  response.end(body);
}

async function start(): Promise<PeerAddress & { codes: Collection<Code> }> {
  const db = await connectPeer(uri);
  const codes = db.collection<Code>('codes');
  const tokens = db.collection<Token>('tokens');
  await codes.createIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  await tokens.createIndex({ accessTokenExpiresAt: 1 }, { expireAfterSeconds: 0 });
  const oauth = new OAuth2Server({ model: modelOf(codes, tokens) });
  const server = createServer((request, response) => {
    answerToken(oauth, request, response).catch((error: unknown) =>
      response.writeHead(500).end(String(error)),
    );
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { origin: `http://127.0.0.1:${port}`, codes };
}

const started = start();

answerCalls({
  start: async () => ({ origin: (await started).origin }),

  async makeCodes({ count, partnerSet }: { count: number; partnerSet: PartnerSet }) {
    const expiresAt = new Date(Date.now() + hour * 1000);
    const made = Array.from({ length: count }, (_, n): Code => {
      const authorizationCode = randomBytes(32).toString('hex');
      return {
        _id: authorizationCode,
        authorizationCode,
        expiresAt,
        redirectUri,
        scope: scope.split(' '),
        codeChallenge,
        codeChallengeMethod: 'S256',
        clientId: peerClient(n, partnerSet).clientId,
        userId: randomBytes(16).toString('hex'),
      };
    });
    await (await started).codes.insertMany(made, preparing);
    return made.map(({ authorizationCode }) => authorizationCode);
  },
});
