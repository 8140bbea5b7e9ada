import type { FastifyInstance, FastifyReply } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  type Asked,
  AskedByAnnexC,
  acts,
  annexC,
  type HolderName,
  holders,
  PresentationRefused,
  pathsToShow,
  readLink,
} from '../../identity-wallet/port.ts';
import { ApiError } from '../../platform/errors.ts';
import { subscriberOf } from '../../platform/http/limits/client-network.ts';
import type { PageParts } from '../parts.ts';
import { assetAddresses, eta } from '../views/assets.ts';
import { contentSecurityPolicy } from '../views/security-headers.ts';
import { testWalletMessages as messages } from './messages.ts';

const Query = z.object({ request: z.string().max(12_000).optional() });
const Holder = z.enum(Object.keys(holders) as [HolderName, ...HolderName[]]).default('adult');
const Form = z.object({
  request: z.string().max(12_000),
  act: z.enum(acts),
  holder: Holder,
  credential: z.string().max(64).optional(),
});

/** The argument of `navigator.credentials.get`, for tests that replace the browser's function by this wallet. */
const Digital = z.object({
  requests: z.array(z.object({ protocol: z.string().max(64), data: z.unknown() })).max(8),
  act: z.enum(acts).exclude(['refuse']).default('present'),
  holder: Holder,
});

const answerLimit = { perMinute: 60 };

/** The error for the user of the test identity wallet: its request cannot be answered. */
class Fault extends Error {
  readonly fault: keyof (typeof messages)['faults'];

  constructor(fault: Fault['fault']) {
    super(fault);
    this.fault = fault;
  }
}

/**
 * The path of an endpoint for identity wallets of this service. The test identity wallet calls no other address.
 * @throws Fault `foreign` for any other address
 */
function ownPath(uri: string, baseUrl: string): string {
  const path = uri.startsWith(baseUrl) ? uri.slice(baseUrl.length) : '';
  if (!/^\/verify\/wallet\/[a-z0-9-]+\/[A-Za-z0-9._-]+(\/request)?$/.test(path)) {
    throw new Fault('foreign');
  }
  return path;
}

/** Posts a form to an endpoint of this server, without the network. */
const postForm = (app: FastifyInstance, path: string, fields: Record<string, string>) =>
  app.inject({
    method: 'POST',
    url: path,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(fields).toString(),
  });

/** Fetches a signed request, by POST if there is a nonce to send. @throws Fault `closed` if the request is not open */
async function fetchRequest(app: FastifyInstance, path: string, nonce: string | undefined): Promise<string> {
  const { statusCode, body } = await (nonce === undefined
    ? app.inject({ method: 'GET', url: path })
    : postForm(app, path, { wallet_nonce: nonce }));
  if (statusCode !== 200) throw new Fault('closed');
  return body;
}

/** Posts a response. @returns the address that the user is sent to, also after a refusal */
async function post(app: FastifyInstance, path: string, fields: Record<string, string>): Promise<string> {
  const { body } = await postForm(app, path, fields);
  const parsed = z.object({ redirect_uri: z.string() }).safeParse(JSON.parse(body));
  if (!parsed.success) throw new Fault('closed');
  return parsed.data.redirect_uri;
}

/**
 * An identity wallet with made-up people, to be mounted at `/verify/test-wallet`. It uses the public endpoints as any
 * other identity wallet does. Its attestations are accepted in test mode only.
 */
export function testIdentityWalletRoutes(parts: PageParts): FastifyPluginAsyncZod {
  const { baseUrl, limit } = parts;
  const { wallet, statusList } = parts.testIdentityWallet;
  const root = `${new URL(baseUrl).pathname.replace(/\/$/, '')}/verify`;
  const { style, icon } = assetAddresses(`${root}/assets`);
  // The answer may redirect to the partner, and partners of test clients may run on the developer's machine.
  const policy = contentSecurityPolicy({ leadsTo: 'http' });

  const render = (data: object): string => eta.render('/test-wallet', { style, icon, ...messages, ...data });

  /** The text for the user about an error. An unforeseen one is for the developer who tests, so its own message is shown. */
  function faultInWords(error: unknown): string {
    if (error instanceof Fault) return messages.faults[error.fault];
    const isUnreadable = error instanceof z.ZodError || error instanceof SyntaxError;
    return isUnreadable ? messages.faults.unreadable : (error as Error).message;
  }

  const sendFault = (error: unknown, reply: FastifyReply): FastifyReply =>
    reply
      .type('text/html; charset=utf-8')
      .status(400)
      .send(render({ fault: faultInWords(error) }));

  /** The template data of a request: who asks for which claims, and where its answer is sent. */
  const view = ({ dcql_query: query, response_uri: uri }: Asked, request: string) => ({
    host: new URL(uri).host,
    action: `${root}/test-wallet`,
    request,
    credentials: query.credentials.map((credential) => ({
      id: credential.id,
      format: credential.format,
      type: credential.meta.doctype_value ?? credential.meta.vct_values?.join(' '),
      // The people of this wallet have every claim, so it presents the first set that is asked for.
      claims: (pathsToShow(credential, () => true) ?? []).map((path) =>
        // Null stands for every element of a list.
        path.map((part) => part ?? 'each').join(' / '),
      ),
    })),
  });

  return async (app) => {
    /** Reads the request that a link leads to. A link by value contains it, and one by reference is fetched here. */
    const read = (link: string) =>
      readLink(link, (uri, nonce) => fetchRequest(app, ownPath(uri, baseUrl), nonce));

    app.addHook('onRequest', async (_request, reply) => {
      void reply.header('content-security-policy', policy);
    });

    app.get('/', { schema: { querystring: Query }, exposeHeadRoute: false }, async (request, reply) => {
      const { request: link = '' } = request.query;
      try {
        const html = render(view(await read(link), link));
        return reply.type('text/html; charset=utf-8').send(html);
      } catch (error) {
        return sendFault(error, reply);
      }
    });

    app.post('/', { schema: { body: Form } }, async ({ body, ip }, reply) => {
      await limit('test-wallet', subscriberOf(ip), answerLimit);
      const { request, ...instruction } = body;
      try {
        const asked = await read(request);
        const path = ownPath(asked.response_uri, baseUrl);
        return reply.redirect(await post(app, path, await wallet().answer(asked, instruction)), 303);
      } catch (error) {
        return sendFault(error, reply);
      }
    });

    // Answers a request of ISO/IEC TS 18013-7, annex C, which browsers pass on by the Digital Credentials API.
    app.post('/credential', { schema: { body: Digital } }, async ({ body, ip }) => {
      await limit('test-wallet', subscriberOf(ip), answerLimit);
      const { requests, ...instruction } = body;
      const asked = AskedByAnnexC.safeParse(requests.find(({ protocol }) => protocol === annexC)?.data);
      if (!asked.success) throw new ApiError('invalid_request', { description: `No request by ${annexC}` });
      try {
        return { protocol: annexC, data: await wallet().answerAnnexC(asked.data, instruction) };
      } catch (error) {
        if (!(error instanceof PresentationRefused)) throw error;
        throw new ApiError('invalid_request', { description: `The request is ${error.message}` });
      }
    });

    app.get('/status', { exposeHeadRoute: false }, async (_request, reply) => {
      const { type, body } = await statusList();
      return reply.type(type).send(body);
    });
  };
}
