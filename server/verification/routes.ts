import type {} from '@fastify/cookie';
import helmet from '@fastify/helmet';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { StartQuery } from '../../contracts/verification.ts';
import { ApiError, generalBody } from '../platform/errors.ts';
import { renderErrors } from '../platform/http/errors.ts';
import { assetRoutes } from './assets.ts';
import { cookieName } from './browser-binding.ts';
import { isOwnOrigin } from './csrf.ts';
import type { createFlow, View } from './flow.ts';
import { type Language, languageAccepted, languageAsked } from './languages.ts';
import type { Pages } from './pages.ts';
import { contentSecurityPolicy, pageHeaders } from './security-headers.ts';
import type { Session } from './sessions.ts';

export interface PageDependencies {
  start: (query: StartQuery) => Promise<{ sessionId: string; browserSecret: string }>;
  flow: ReturnType<typeof createFlow>;
  pages: Pages;
  /** For the pages about errors. */
  findSession: (id: string) => Promise<Session | undefined>;
  /** Root of all links, without a trailing slash. */
  baseUrl: string;
}

const Params = z.object({ session_id: z.string().max(64) });
const Form = z.object({
  step: z.string().max(32).optional(),
  csrf: z.string().max(256).optional(),
  decision: z.enum(['accept', 'decline', 'cancel']).optional(),
  person: z.string().max(64).optional(),
});

/** The raw query of a request has to be percent-encoded UTF-8: else `state` could not be sent back as it came. */
async function refuseMalformedQuery({ url }: FastifyRequest): Promise<void> {
  try {
    decodeURIComponent(url);
  } catch {
    throw new ApiError('invalid_request', { description: 'The query is not percent-encoded UTF-8' });
  }
}

/**
 * The hosted pages, to be mounted at `/verify`: `start`, `session/{id}`, `assets/…`. Expects the cookie and
 * form body plugins in its scope.
 */
export function pageRoutes({
  start,
  flow,
  pages,
  findSession,
  baseUrl,
}: PageDependencies): FastifyPluginAsyncZod {
  const { origin, pathname, protocol } = new URL(baseUrl);
  const secure = protocol === 'https:';
  const path = (sessionId: string) => `${pathname.replace(/\/$/, '')}/verify/session/${sessionId}`;
  const address = (sessionId: string) => `${origin}${path(sessionId)}`;

  function bind(reply: FastifyReply, sessionId: string, secret: string): void {
    // Without an age: an expired session shall still know its browser, to send it back to the partner.
    void reply.setCookie(cookieName(sessionId), secret, {
      path: path(sessionId),
      httpOnly: true,
      sameSite: 'lax',
      secure,
    });
  }

  async function send(reply: FastifyReply, view: View, secret: string): Promise<FastifyReply> {
    if (view.kind === 'redirect') return reply.redirect(view.url, 303);
    const { session } = view;
    const language = languageOf(reply.request, session);
    const page = await pages.step(view, { action: path(session._id), secret, language });
    return reply
      .header('content-security-policy', contentSecurityPolicy(page.formTargets))
      .header('refresh', page.refreshAfter)
      .type('text/html; charset=utf-8')
      .send(page.html);
  }

  /** A page for browsers; for programs the general format (decisions.md, "Session states"). */
  async function sendError(error: ApiError, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    void reply.header('vary', 'accept, accept-language');
    if (!request.headers.accept?.includes('text/html')) return void reply.send(generalBody(error));
    const { session_id: sessionId } = request.params as { session_id?: string };
    // A database that is away has cost the person the wait already.
    const known = sessionId !== undefined && error.status < 500;
    const session = known ? await findSession(sessionId).catch(() => undefined) : undefined;
    const language = languageOf(request, session);
    const place = { inSession: sessionId !== undefined, session };
    const html = await pages.error(error, { language, requestId: request.id, ...place });
    void reply.type('text/html; charset=utf-8').send(html);
  }

  return async (app) => {
    await app.register(helmet, pageHeaders(secure));
    app.addHook('onRequest', async (_request, reply) => {
      void reply
        .header('cache-control', 'no-store')
        .header('content-security-policy', contentSecurityPolicy([]));
    });
    renderErrors(app, sendError);
    app.setNotFoundHandler(({ url }) => {
      const [, known] = /\/(start|session)(?:\/[^/?]+)?(?:\?|$)/.exec(url) ?? [];
      if (!known) throw new ApiError('route_not_found');
      const allow = known === 'start' ? 'GET' : 'GET, POST';
      throw new ApiError('method_not_allowed', { headers: { allow } });
    });
    await app.register(assetRoutes, { prefix: '/assets' });

    app.get(
      '/start',
      { schema: { querystring: StartQuery }, exposeHeadRoute: false, onRequest: refuseMalformedQuery },
      async (request, reply) => {
        const { sessionId, browserSecret } = await start(request.query);
        bind(reply, sessionId, browserSecret);
        return reply.redirect(address(sessionId), 302);
      },
    );

    app.get(
      '/session/:session_id',
      { schema: { params: Params }, exposeHeadRoute: false },
      async (request, reply) => {
        const sessionId = request.params.session_id;
        const secret = request.cookies[cookieName(sessionId)];
        const view = await flow.show({ sessionId, secret });
        return send(reply, view, secret ?? '');
      },
    );

    app.post(
      '/session/:session_id',
      { schema: { params: Params, body: Form } },
      async ({ params, body, cookies, headers }, reply) => {
        if (!isOwnOrigin(headers, origin)) throw new ApiError('cross_site_request');
        const sessionId = params.session_id;
        const { person, ...fields } = body;
        const form = { ...fields, input: person === undefined ? {} : { person } };
        const secret = await flow.submit({ sessionId, secret: cookies[cookieName(sessionId)] }, form);
        bind(reply, sessionId, secret);
        const view = await flow.show({ sessionId, secret });
        // After a form always a redirect, so that a reload never sends it twice.
        return view.kind === 'page' ? reply.redirect(address(sessionId), 303) : send(reply, view, secret);
      },
    );
  };
}

/** The session's language; before there is a session the query's, else what the browser likes. */
function languageOf({ url, headers }: FastifyRequest, session: Session | undefined): Language {
  if (session?.language) return session.language;
  const asked = new URLSearchParams(url.split('?')[1]).get('ui_locales') ?? undefined;
  return languageAsked(asked) ?? languageAccepted(headers['accept-language']);
}
