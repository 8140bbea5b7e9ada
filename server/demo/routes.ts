import type {} from '@fastify/cookie';
import cookie from '@fastify/cookie';
import helmet from '@fastify/helmet';
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { DemoAccount } from './account.ts';
import { assets, type createPages, identityWallets } from './pages.ts';
import { ShopError, toShopError } from './shop-error.ts';
import type { Verification, Verifications } from './verification-client.ts';

interface Dependencies {
  verifications: Verifications;
  account: DemoAccount;
  pages: ReturnType<typeof createPages>;
  baseUrl: string;
  url: string;
}

const verificationCookie = 'svc_demo_visit';
/** The query of a redirect back from the service. A repeated parameter would be an array, and is refused. */
const RedirectParameters = z.record(z.string(), z.string());
/** The form that starts a verification. Without a field, its body is null. */
const SourceForm = z.object({ source: z.enum(identityWallets.map(({ name }) => name)).optional() }).nullish();

/** A form leads to the service by a redirect, so browsers require that `form-action` allows the service too. */
function contentSecurityPolicy(baseUrl: string): string {
  return [
    "default-src 'none'",
    "style-src 'self'",
    'img-src data:',
    "script-src 'self'",
    "connect-src 'self'",
    `form-action 'self' ${new URL(baseUrl).origin}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

/** Adds the parser of form bodies, which Fastify does not have. */
function acceptForms(app: FastifyInstance): void {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_request: FastifyRequest, body: string | Buffer) =>
      Object.fromEntries(new URLSearchParams(body.toString())),
  );
}

/** Returns the verification source that a form names; null (the sandbox) if the form names none. */
function sourceOf(body: unknown): string | null {
  const { data, success } = SourceForm.safeParse(body);
  if (!success)
    throw new ShopError('invalid_request', 'This form names a source that the shop does not have.');
  return data?.source ?? null;
}

export function demoRoutes(dependencies: Dependencies): FastifyPluginAsync {
  const { verifications, account, pages, baseUrl, url } = dependencies;
  const html = (reply: FastifyReply, page: string) => reply.type('text/html; charset=utf-8').send(page);
  const { host } = new URL(url);

  /** Returns the verification of this browser. @throws ShopError `not_found` if it has none */
  function verificationOf({ cookies }: FastifyRequest): Verification {
    const verification = verifications.find(cookies[verificationCookie]);
    if (!verification)
      throw new ShopError('not_found', 'Start at the shop: this browser has no verification.');
    return verification;
  }

  return async (app) => {
    await app.register(helmet, {
      // The hook below sets a policy of our own.
      contentSecurityPolicy: false,
      // The site is on http://localhost only.
      strictTransportSecurity: false,
      // With `no-referrer`, browsers would send the forms of this site with `Origin: null`.
      referrerPolicy: { policy: 'same-origin' },
    });
    await app.register(cookie);
    acceptForms(app);
    app.addHook('onRequest', async ({ headers, method }, reply) => {
      void reply
        .header('content-security-policy', contentSecurityPolicy(baseUrl))
        .header('cache-control', 'no-store');
      // The demo holds credentials. Other sites must not reach it by another host name or by their own forms.
      if (headers.host !== host) throw new ShopError('route_not_found', `This site is ${url}`);
      // Browsers send `Origin` with each form. Other programs may leave it out.
      if (method === 'POST' && headers.origin !== undefined && headers.origin !== url)
        throw new ShopError('cross_site_request', `The form was sent from ${headers.origin}`);
    });
    app.setErrorHandler((thrown, request, reply) => {
      const error = toShopError(thrown);
      if (error.status >= 500) request.log.error({ err: thrown }, 'the demo could not answer');
      return html(reply.status(error.status), pages.renderProblem(error, `${url}/`));
    });
    app.setNotFoundHandler(async ({ method, url: asked }) => {
      throw new ShopError('route_not_found', `No page answers ${method} ${asked}`);
    });

    for (const [name, { type, content }] of Object.entries(assets)) {
      app.get(`/assets/${name}`, async (_request, reply) => reply.type(type).send(content));
    }

    app.get('/', async (_request, reply) => html(reply, pages.renderHome()));

    app.post('/verify', async ({ body }, reply) => {
      const verification = await verifications.begin(sourceOf(body));
      void reply.setCookie(verificationCookie, verification.id, {
        path: '/',
        httpOnly: true,
        sameSite: 'lax',
      });
      return reply.redirect(verification.startUrl, 303);
    });

    app.get('/callback', async (request, reply) => {
      const verification = verificationOf(request);
      const parameters = RedirectParameters.safeParse(request.query);
      if (!parameters.success || !(await verifications.finish(verification, parameters.data)))
        throw new ShopError('invalid_request', 'state or iss does not match this verification');
      return reply.redirect('/result', 303);
    });

    app.get('/result', async (request, reply) => {
      const verification = verificationOf(request);
      if (!verification.redirectParameters) return reply.redirect('/', 303);
      await verifications.querySession(verification);
      const events = verifications.eventsOf(verification);
      return html(reply, pages.renderResult(verification, { events, account: await account.ensure() }));
    });

    // A script asks for the number of events, and reloads the result when it changes.
    app.get('/result/state', async (request, reply) =>
      reply.type('text/plain').send(String(verifications.eventsOf(verificationOf(request)).length)),
    );

    app.post('/revoke', async (request, reply) => {
      await verifications.revoke(verificationOf(request));
      return reply.redirect('/result#revoke', 303);
    });
  };
}
