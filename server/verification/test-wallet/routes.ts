import { Eta } from 'eta';
import type { FastifyInstance } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ApiError } from '../../platform/errors.ts';
import { assetAddresses, templates } from '../pages/assets.ts';
import { contentSecurityPolicy } from '../pages/security-headers.ts';
import { type Asked, readLink } from './asked.ts';
import { type HolderName, holders } from './issuer.ts';
import { acts, type createTestWallet } from './wallet.ts';

interface Dependencies {
  wallet: () => ReturnType<typeof createTestWallet>;
  /** The status list of the test issuer. */
  statusList: () => Promise<{ type: string; body: Uint8Array }>;
  /** Root of all links, without a trailing slash. */
  baseUrl: string;
  limit: (name: string, id: string, max: number) => Promise<{ allowed: boolean; retryAfter: number }>;
}

const Query = z.object({ request: z.string().max(12_000).optional() });
const Form = z.object({
  request: z.string().max(12_000),
  act: z.enum(acts),
  holder: z.enum(Object.keys(holders) as [HolderName, ...HolderName[]]).default('adult'),
  credential: z.string().max(64).optional(),
});

/** Answers of one address in a minute. */
const answersPerMinute = 60;

const bad = [
  ['expired', 'Expired attestation'],
  ['not-yet-valid', 'Not yet valid'],
  ['unknown-issuer', 'Unknown issuer'],
  ['revoked', 'Revoked attestation'],
  ['wrong-nonce', 'Wrong nonce'],
  ['wrong-audience', 'Wrong audience'],
  ['replay', 'Replay of another presentation'],
  ['too-much', 'More than was asked for'],
] as const;

/** Paths of our own public endpoints that wallets call: the test wallet talks to nothing else. */
function ownPath(uri: string, baseUrl: string): string {
  const path = uri.startsWith(`${baseUrl}/verify/wallet/`) ? uri.slice(baseUrl.length) : '';
  if (!/^\/verify\/wallet\/[a-z0-9-]+\/[A-Za-z0-9._-]+(\/request)?$/.test(path)) {
    throw new Error('The test wallet answers requests of this service only.');
  }
  return path;
}

async function fetchRequest(app: FastifyInstance, path: string): Promise<string> {
  const { statusCode, body } = await app.inject({ method: 'GET', url: path });
  if (statusCode !== 200) throw new Error('The request is not open any more.');
  return body;
}

async function post(app: FastifyInstance, path: string, fields: Record<string, string>): Promise<string> {
  const { statusCode, body } = await app.inject({
    method: 'POST',
    url: path,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(fields).toString(),
  });
  const parsed = z.object({ redirect_uri: z.string() }).safeParse(statusCode === 200 && JSON.parse(body));
  if (!parsed.success) throw new Error('The request is not open any more.');
  return parsed.data.redirect_uri;
}

/**
 * A wallet with made-up people, to be mounted at `/verify/test-wallet`. It speaks to the public endpoints as any wallet
 * does, and its attestations count for sessions in test mode only.
 */
export function testWalletRoutes(dependencies: Dependencies): FastifyPluginAsyncZod {
  const { wallet, statusList, baseUrl, limit } = dependencies;
  const eta = new Eta({ views: templates, cache: true });
  const root = `${new URL(baseUrl).pathname.replace(/\/$/, '')}/verify`;
  const { style, icon } = assetAddresses(`${root}/assets`);
  const policy = contentSecurityPolicy({ leadsTo: 'http://localhost:*' });

  const render = (data: object) => eta.render('./test-wallet', { style, icon, ...data });
  const view = ({ dcql_query: query, response_uri: uri }: Asked, request: string) => ({
    host: new URL(uri).host,
    action: `${root}/test-wallet`,
    request,
    bad,
    credentials: query.credentials.map(({ id, format, meta, claims = [] }) => ({
      id,
      format,
      type: meta.doctype_value ?? meta.vct_values?.join(' '),
      claims: claims.map(({ path }) => path.map((part) => part ?? 'each').join(' / ')),
    })),
  });

  return async (app) => {
    const read = (link: string) => readLink(link, (uri) => fetchRequest(app, ownPath(uri, baseUrl)));

    app.addHook('onRequest', async (_request, reply) => {
      void reply.header('content-security-policy', policy);
    });

    app.get('/', { schema: { querystring: Query }, exposeHeadRoute: false }, async ({ query }, reply) => {
      const page = reply.type('text/html; charset=utf-8');
      const { request = '' } = query;
      try {
        return page.send(render(view(await read(request), request)));
      } catch (error) {
        const fault =
          error instanceof z.ZodError ? 'This is no request to a wallet.' : (error as Error).message;
        return page.status(400).send(render({ fault }));
      }
    });

    app.post('/', { schema: { body: Form } }, async ({ body, ip }, reply) => {
      const { allowed, retryAfter } = await limit('test-wallet', ip, answersPerMinute);
      if (!allowed) throw new ApiError('rate_limited', { retryAfter });
      const { request, ...instruction } = body;
      try {
        const asked = await read(request);
        const path = ownPath(asked.response_uri, baseUrl);
        return reply.redirect(await post(app, path, await wallet().answer(asked, instruction)), 303);
      } catch (error) {
        const fault =
          error instanceof z.ZodError ? 'This is no request to a wallet.' : (error as Error).message;
        return reply.type('text/html; charset=utf-8').status(400).send(render({ fault }));
      }
    });

    app.get('/status', { exposeHeadRoute: false }, async (_request, reply) => {
      const { type, body } = await statusList();
      return reply.type(type).send(body);
    });
  };
}
