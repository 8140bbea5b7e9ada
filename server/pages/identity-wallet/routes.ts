import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Device } from '../../../contracts/verification.ts';
import { requestObjectType } from '../../identity-wallet/port.ts';
import { ApiError, generalBody } from '../../platform/errors.ts';
import { isOwnOrigin } from '../../platform/http/browser/csrf.ts';
import { renderErrors } from '../../platform/http/errors.ts';
import type { Responses } from '../views/responses.ts';
import { DigitalAnswer, type IdentityWalletAnswers } from './answers.ts';

const Params = z.object({ source: z.string().max(64), token: z.string().max(128) });
const Nonce = z.object({ wallet_nonce: z.string().max(256).optional() }).nullish();
/** A repeated field arrives as a list. The code that reads the field refuses it. */
const Body = z.record(z.string(), z.unknown());

/** The endpoints that identity wallets call, to be mounted at `/verify/wallet`. These endpoints read no cookies. */
export function identityWalletRoutes(
  answers: IdentityWalletAnswers,
  responses: Responses,
): FastifyPluginAsyncZod {
  return async (app) => {
    renderErrors(app, (error: ApiError, _request, reply) => void reply.send(generalBody(error)));

    // An identity wallet fetches the signed request by GET, or by POST with a nonce of its own (OpenID4VP 1.0, 5.10).
    app.get('/:source/:token/request', { schema: { params: Params } }, async ({ params }, reply) => {
      const signed = await answers.request(params.source, params.token);
      return reply.type(requestObjectType).send(signed);
    });

    app.post(
      '/:source/:token/request',
      { schema: { params: Params, body: Nonce } },
      async ({ params, body }, reply) => {
        const signed = await answers.request(params.source, params.token, body?.wallet_nonce);
        return reply.type(requestObjectType).send(signed);
      },
    );

    app.post(
      '/:source/:token',
      { schema: { params: Params, body: Body } },
      async ({ params, body }, reply) => {
        const answered = await answers.answer(params.source, params.token, body);
        const page = `${responses.origin}${responses.path(answered)}`;
        // After a refusal too, the user has to return to our page, which says what has happened.
        const back = { redirect_uri: `${page}/wallet?response_code=${answered.code}` };
        if (!answered.isRefused) return reply.send(back);
        const refusal = new ApiError('invalid_request', { description: 'The presentation was refused' });
        return reply.status(refusal.status).send({ ...generalBody(refusal), ...back });
      },
    );
  };
}

/** Receives returning browsers, and the responses that pages post. Each device (computer or phone) has these routes beside its pages. */
export function identityWalletReturnRoutes(
  device: Device,
  answers: IdentityWalletAnswers,
  responses: Responses,
): FastifyPluginAsyncZod {
  const { browserOf, toPage, origin } = responses;
  const params = z.object({ session_id: z.string().max(64) });
  const schema = { params, querystring: z.object({ response_code: z.string().min(1).max(64) }) };
  return async (app) => {
    // The return has effects, so a HEAD request must not cause it.
    app.get('/:session_id/wallet', { schema, exposeHeadRoute: false }, async (request, reply) => {
      const browser = browserOf(request, device, request.params.session_id);
      return toPage(reply, browser, await answers.handleReturn(browser, request.query.response_code));
    });

    app.post('/:session_id/wallet', { schema: { params, body: DigitalAnswer } }, async (request, reply) => {
      if (!isOwnOrigin(request.headers, origin)) throw new ApiError('cross_site_request');
      const browser = browserOf(request, device, request.params.session_id);
      return toPage(reply, browser, await answers.present(browser, request.body));
    });
  };
}
