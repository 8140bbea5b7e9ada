import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ApiError } from '../../platform/errors.ts';
import { isOwnOrigin, issueToken, isTokenOf, nonceCookie } from '../../platform/http/browser/csrf.ts';
import { choiceAddress } from '../../platform/http/browser/language-choice.ts';
import { deviceName } from '../../sessions/devices.ts';
import { presentedLink } from '../../sessions/hand-off/link.ts';
import type { BrowserContext } from '../../sessions/session-access.ts';
import type { Pages } from '../views/pages.ts';
import type { Responses } from '../views/responses.ts';
import type { Pairing } from './pairing.ts';

const Params = z.object({ token: z.string().max(64) });
const Form = z.object({ csrf: z.string().max(256), code: z.string().max(64) });

/** The name of a cookie that binds the form to the browser that loaded it. No other site can submit a code then. */
const formCookie = 'svc_link';
/**
 * The name of a cookie that tells the phone of a used link from all other browsers, which must not learn that it was used.
 * It opens nothing: the phone's page has a cookie of its own.
 */
const usedCookie = 'svc_link_used';

/** The link that a phone opens, to be mounted at `/verify/p`. */
export function linkRoutes(pairing: Pairing, pages: Pages, responses: Responses): FastifyPluginAsyncZod {
  const { origin, root, secure, languageOf, sendPage, setCookie, toPage } = responses;
  // A second tab gets the same secret, so that the form of the first one stays valid.
  const formSecretOf = nonceCookie(formCookie, {
    path: `${root}/p`,
    httpOnly: true,
    sameSite: 'lax',
    secure,
  });

  /** The page of the phone that has used this link; undefined in all other browsers. */
  function pageAfterUse({ cookies }: FastifyRequest, token: string): BrowserContext | undefined {
    const { sessionId } = presentedLink(token);
    const isUsedHere = cookies[usedCookie] !== undefined && sessionId !== undefined;
    return isUsedHere ? { device: 'phone', sessionId, secret: undefined } : undefined;
  }

  return async (app) => {
    app.get('/:token', { schema: { params: Params }, exposeHeadRoute: false }, async (request, reply) => {
      const { token } = request.params;
      const pageOfPhone = pageAfterUse(request, token);
      if (pageOfPhone) return toPage(reply, pageOfPhone);
      const link = await pairing.findOpenLink(token);
      const formSecret = formSecretOf(request, reply);
      const page = await pages.link(link, {
        language: languageOf(request, link.session),
        choiceAddress: choiceAddress(request, ''),
        action: `${root}/p/${token}`,
        csrf: issueToken(formSecret),
        // The redirect after a wrong code, below, leads here.
        wrong: Object.hasOwn(request.query as object, 'wrong'),
      });
      return sendPage(reply, page);
    });

    app.post('/:token', { schema: { params: Params, body: Form } }, async (request, reply) => {
      const { headers, params, body, cookies } = request;
      const formSecret = cookies[formCookie];
      const isGenuine =
        formSecret !== undefined && isTokenOf(formSecret, body.csrf) && isOwnOrigin(headers, origin);
      if (!isGenuine) throw new ApiError('cross_site_request');
      const pageOfPhone = pageAfterUse(request, params.token);
      if (pageOfPhone) return toPage(reply, pageOfPhone);
      const phone = deviceName(headers['user-agent']);
      const form = { secret: formSecret, csrf: body.csrf };
      const joined = await pairing.join(params.token, { code: body.code, phone, form });
      if (!joined) return reply.redirect(`${origin}${root}/p/${params.token}?wrong`, 303);
      setCookie(reply, { name: usedCookie, value: '1', at: `${root}/p/${encodeURIComponent(params.token)}` });
      const browser = { device: 'phone', sessionId: joined.sessionId, secret: undefined } as const;
      return toPage(reply, browser, joined.secret);
    });
  };
}
