import helmet from '@fastify/helmet';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Device } from '../../contracts/verification.ts';
import { StartQuery } from '../../contracts/verification.ts';
import { ApiError } from '../platform/errors.ts';
import { notePartner } from '../platform/http/answer-log.ts';
import { isOwnOrigin } from '../platform/http/browser/csrf.ts';
import { followChoice } from '../platform/http/browser/language-choice.ts';
import { pageHeaders } from '../platform/http/browser/pages.ts';
import { renderErrors } from '../platform/http/errors.ts';
import { encodingFault, prepareQuery, queryOf } from '../platform/http/parameters.ts';
import { ownUnknownRoutes } from '../platform/http/unknown-routes.ts';
import { readTraceparent } from '../platform/telemetry/trace-context.ts';
import { deviceName } from '../sessions/devices.ts';
import type { BrowserContext } from '../sessions/session-access.ts';
import { parseState } from '../sessions/sources/authorization-request.ts';
import { PasskeyForm } from './flow/passkey-forms.ts';
import { Form, type Submitted } from './flow/submit.ts';
import { linkRoutes } from './hand-off/link-routes.ts';
import { identityWalletReturnRoutes, identityWalletRoutes } from './identity-wallet/routes.ts';
import { createHostRedirect } from './other-host.ts';
import type { PageParts } from './parts.ts';
import { testIdentityWalletRoutes } from './test-identity-wallet/routes.ts';
import { assetRoutes } from './views/assets.ts';
import { createResponses, type Responses } from './views/responses.ts';
import { contentSecurityPolicy } from './views/security-headers.ts';
import { yourDataRoutes } from './your-data/routes.ts';

const Params = z.object({ session_id: z.string().max(64) });

/** The parameters of a request's query, with repeated and empty ones. */
const parametersOf = ({ url }: FastifyRequest) => new URLSearchParams(queryOf(url));

const ofSession = { schema: { params: Params }, exposeHeadRoute: false };

function deviceRoutes(device: Device, flow: PageParts['flow'], responses: Responses): FastifyPluginAsyncZod {
  const { origin, browserOf, toPage, sendView } = responses;
  const sendNext = sendNextTo(flow, responses);

  return async (app) => {
    app.get('/:session_id', ofSession, async (request, reply) => {
      const browser = browserOf(request, device, request.params.session_id);
      const view = await flow.show(browser);
      return view.kind === 'renew' ? toPage(reply, browser, view.secret) : sendView(reply, view, browser);
    });

    app.post('/:session_id', { schema: { params: Params, body: Form } }, async (request, reply) => {
      const { headers, params, body } = request;
      if (!isOwnOrigin(headers, origin)) throw new ApiError('cross_site_request');
      const browser = browserOf(request, device, params.session_id);
      const form = { ...body, deviceName: deviceName(headers['user-agent']) };
      return sendNext(reply, browser, await flow.submit(browser, form));
    });

    const ofReturn = {
      schema: { params: Params.extend({ source: z.string().max(64) }) },
      exposeHeadRoute: false,
    };
    app.get('/:session_id/return/:source', ofReturn, async (request, reply) => {
      const { session_id: sessionId, source } = request.params;
      const browser = browserOf(request, device, sessionId);
      const secret = await flow.handleReturn(browser, { source, answer: parametersOf(request) });
      return toPage(reply, browser, secret);
    });

    app.get('/:session_id/state', ofSession, async (request, reply) => {
      const browser = browserOf(request, device, request.params.session_id);
      const { session } = await flow.show(browser);
      // Every change makes the timeline longer. The page's script reloads the page when this number changes.
      return reply.type('text/plain').send(String(session.timeline.length));
    });
  };
}

/**
 * Answers a form: sends the browser to the partner, or to the page of the next step. The form may set the passkey mark,
 * a cookie that suppresses the question whether to save a passkey.
 */
const sendNextTo =
  (flow: PageParts['flow'], { bind, markPasskey, sendView, toPage }: Responses) =>
  async (reply: FastifyReply, browser: BrowserContext, submitted: Submitted): Promise<FastifyReply> => {
    const { session, secret, mark } = submitted;
    if (session) notePartner(reply.request, session.partnerId);
    bind(reply, browser, secret);
    if (mark) markPasskey(reply, mark);
    // The browser sends the mark from its next request on, but the next step has to know it now.
    const marked = mark ? { ...browser, passkeyMark: mark.value } : browser;
    const view = await flow.exitAfterForm(submitted, marked);
    return view ? sendView(reply, view, marked) : toPage(reply, browser);
  };

/** Passkeys in a session. The phone of a hand-off is offered none, so the routes are for the computer only. */
function passkeyRoutes(flow: PageParts['flow'], responses: Responses): FastifyPluginAsyncZod {
  const { origin, browserOf } = responses;
  const sendNext = sendNextTo(flow, responses);
  const forms = { use: flow.usePasskey, save: flow.savePasskey };

  return async (app) => {
    for (const [name, submit] of Object.entries(forms)) {
      const schema = { params: Params, body: PasskeyForm };
      app.post(`/:session_id/passkey/${name}`, { schema }, async (request, reply) => {
        if (!isOwnOrigin(request.headers, origin)) throw new ApiError('cross_site_request');
        const browser = browserOf(request, 'computer', request.params.session_id);
        return sendNext(reply, browser, await submit(browser, request.body));
      });
    }

    app.get('/:session_id/passkey/options', ofSession, async (request) =>
      flow.passkeyOptions(browserOf(request, 'computer', request.params.session_id)),
    );
  };
}

/** `GET /verify/start`. An error is a page, or with OpenID Connect a redirect to the partner. */
function startRoute({ starts, baseUrl }: PageParts, responses: Responses): FastifyPluginAsyncZod {
  const { origin, path, bind, sendError } = responses;
  const redirectToBaseUrl = createHostRedirect(baseUrl);

  return async (app) => {
    renderErrors(app, async (error, request, reply) => {
      // A state that is no text could not be sent back as it was.
      const isText = encodingFault(queryOf(request.url)) === undefined;
      const location = isText ? await starts.errorRedirect(request.query, error) : undefined;
      return location === undefined ? sendError(error, request, reply) : reply.redirect(location, 302);
    });

    app.get(
      '/start',
      {
        schema: { querystring: StartQuery },
        exposeHeadRoute: false,
        preValidation: prepareQuery,
      },
      async (request, reply) => {
        const atBaseUrl = redirectToBaseUrl(request);
        if (atBaseUrl !== undefined) return reply.redirect(atBaseUrl, 302);
        const trace = readTraceparent(request.headers['traceparent']);
        const { sessionId, partnerId, browserSecret } = await starts.start(request.query, {
          address: request.ip,
          traceparent: trace?.traceparent,
        });
        notePartner(request, partnerId);
        const browser = { device: 'computer', sessionId, secret: undefined } as const;
        bind(reply, browser, browserSecret);
        return reply.redirect(`${origin}${path(browser)}`, 302);
      },
    );
  };
}

/**
 * The hosted pages, to be mounted at `/verify`: `start`, `session/{id}`, `callback/{source}` and `assets/…`. For the
 * phone: `p/{link}` and `phone/{id}`. For identity wallets: `wallet/{source}/{token}` and `test-wallet`. For users: `you`.
 * Expects the cookie and form body plugins in its scope.
 */
export function pageRoutes(parts: PageParts): FastifyPluginAsyncZod {
  const { flow, pairing, pages, findLogo, identityWallets } = parts;
  const responses = createResponses(parts);
  const { secure, path, sendError } = responses;

  return async (app) => {
    await app.register(helmet, pageHeaders(secure));
    app.addHook('onRequest', async (request, reply) => {
      void reply
        .header('cache-control', 'no-store')
        .header('content-security-policy', contentSecurityPolicy({}));
      const isAnswered = followChoice(request, reply, responses);
      return isAnswered ? reply : undefined;
    });
    renderErrors(app, sendError);
    ownUnknownRoutes(app);
    await app.register(assetRoutes(findLogo), { prefix: '/assets' });
    for (const [device, prefix] of [
      ['computer', '/session'],
      ['phone', '/phone'],
    ] as const) {
      await app.register(deviceRoutes(device, flow, responses), { prefix });
      await app.register(identityWalletReturnRoutes(device, identityWallets, responses), { prefix });
    }
    await app.register(passkeyRoutes(flow, responses), { prefix: '/session' });
    await app.register(identityWalletRoutes(identityWallets, responses), { prefix: '/wallet' });
    await app.register(testIdentityWalletRoutes(parts), { prefix: '/test-wallet' });
    await app.register(linkRoutes(pairing, pages, responses), { prefix: '/p' });
    await app.register(yourDataRoutes(parts, responses), { prefix: '/you' });

    await app.register(startRoute(parts, responses));

    // A source has one redirect URI for all sessions, but a session's cookie is sent to the session's own path only. So
    // the browser is redirected to that path, with the whole response.
    app.get(
      '/callback/:source',
      { schema: { params: z.object({ source: z.string().max(64) }) }, exposeHeadRoute: false },
      async (request, reply) => {
        const query = parametersOf(request);
        const destination = parseState(query.get('state') ?? '');
        if (!destination) throw new ApiError('cross_site_request');
        const source = encodeURIComponent(request.params.source);
        return reply.redirect(`${responses.origin}${path(destination)}/return/${source}?${query}`, 303);
      },
    );
  };
}
