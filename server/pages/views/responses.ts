import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Device } from '../../../contracts/verification.ts';
import { type ApiError, generalBody } from '../../platform/errors.ts';
import { notePartner } from '../../platform/http/answer-log.ts';
import { type Language, languageAccepted, languageAsked } from '../../platform/http/browser/language.ts';
import { choiceAddress, languageChosen } from '../../platform/http/browser/language-choice.ts';
import { codeHeader } from '../../platform/http/errors.ts';
import { pathOf, queryOf } from '../../platform/http/parameters.ts';
import { isPhone } from '../../sessions/devices.ts';
import type { Session } from '../../sessions/session.ts';
import type { BrowserContext } from '../../sessions/session-access.ts';
import type { View } from '../flow/view.ts';
import type { PageParts } from '../parts.ts';
import type { Page, PageContext } from './pages.ts';
import { contentSecurityPolicy } from './security-headers.ts';

/** One cookie for each session and device, so that two sessions in one browser are independent. */
const cookieNames = { computer: (id: string) => `svc_${id}`, phone: (id: string) => `svc_${id}_phone` };
/** The CSRF token of the last page, by which the browser gets its new secret if the answer to that page's form is lost. */
const formCookieOf = (id: string) => `svc_${id}_form`;
/** One cookie for all sessions in a browser. */
const passkeyCookie = 'svc_passkey';
/** The part of the path of a session's pages that tells the device. */
const segments: Record<Device, string> = { computer: 'session', phone: 'phone' };

/** The language that the user chose, else the session's, else that of the query, else the browser's. */
function languageOf(request: FastifyRequest, session: Session | undefined): Language {
  const { url, headers } = request;
  const settled = languageChosen(request) ?? session?.language;
  if (settled) return settled;
  const asked = new URLSearchParams(queryOf(url)).get('ui_locales') ?? undefined;
  return languageAsked(asked) ?? languageAccepted(headers['accept-language']);
}

export function createResponses({ pages, sessions, sessionAccess, baseUrl }: PageParts) {
  const { origin, pathname, protocol } = new URL(baseUrl);
  const secure = protocol === 'https:';
  const basePath = pathname.replace(/\/$/, '');
  const root = `${basePath}/verify`;

  /** The path of a session's pages on one of its devices. */
  const path = ({ device, sessionId }: Pick<BrowserContext, 'device' | 'sessionId'>) =>
    `${root}/${segments[device]}/${sessionId}`;

  /**
   * Sets a cookie for the path `at` and all paths below. `maxAge` is in seconds; without it, the cookie is deleted
   * when the browser is closed.
   */
  function setCookie(
    reply: FastifyReply,
    {
      name,
      value,
      at,
      ...given
    }: Pick<CookieSerializeOptions, 'maxAge' | 'sameSite'> & { name: string; value: string; at: string },
  ) {
    void reply.setCookie(name, value, { path: at, httpOnly: true, sameSite: 'lax', secure, ...given });
  }

  function sendPage(reply: FastifyReply, page: Page): FastifyReply {
    if (page.refresh !== undefined) void reply.header('refresh', page.refresh);
    return reply
      .status(page.status)
      .header('content-security-policy', contentSecurityPolicy(page))
      .type('text/html; charset=utf-8')
      .send(page.html);
  }

  /**
   * The session's device that a request came from, by its path. The pattern may match anywhere in the path, because a proxy
   * may have removed the path of the base URL.
   */
  function deviceOf(url: string): Device | undefined {
    const withoutQuery = pathOf(url);
    const { segment } = /\/verify\/(?<segment>session|phone|p)\//.exec(withoutQuery)?.groups ?? {};
    if (segment === undefined) return undefined;
    return segment === 'session' ? 'computer' : 'phone';
  }

  /** Whether an address is one of the pages of a user's own data, `/verify/you`. */
  const isYourData = (url: string) => /\/verify\/you(?=[/?]|$)/.test(pathOf(url));

  /** The page that the forms of a request's address belong to. Empty if it has the same address. */
  function pageOf({ params, url }: FastifyRequest, device: Device | undefined): string {
    if (isYourData(url)) return `${root}/you`;
    const { session_id: sessionId } = params as { session_id?: string };
    return device && sessionId ? path({ device, sessionId }) : '';
  }

  /** The other site whose link or form led here, from `Referer`; undefined for our own pages. */
  function cameFrom({ headers }: FastifyRequest): URL | undefined {
    const { referer = '' } = headers;
    const from = URL.canParse(referer) ? new URL(referer) : undefined;
    return from && /^https?:$/.test(from.protocol) && from.origin !== origin ? from : undefined;
  }

  function browserOf(request: FastifyRequest, device: Device, sessionId: string): BrowserContext {
    const secret = request.cookies[cookieNames[device](sessionId)];
    const passkeyMark = request.cookies[passkeyCookie];
    const formToken = request.cookies[formCookieOf(sessionId)];
    return { device, sessionId, secret, formToken, language: languageChosen(request), passkeyMark };
  }

  /**
   * Sets the cookie of this browser to `secret`. An unchanged secret is not sent again: it could overwrite a newer one that
   * another tab has received.
   */
  function bind(reply: FastifyReply, browser: BrowserContext, secret: string): void {
    const { device, sessionId } = browser;
    if (secret === browser.secret) return;
    setCookie(reply, { name: cookieNames[device](sessionId), value: secret, at: path(browser) });
  }

  return {
    origin,
    root,
    secure,
    path,
    setCookie,
    sendPage,
    browserOf,

    bind,

    /** Remembers in this browser that a user has a passkey here, or did not want one. */
    markPasskey(reply: FastifyReply, { value, days }: { value: string; days: number }): void {
      setCookie(reply, { name: passkeyCookie, value, at: `${root}/session`, maxAge: days * 86_400 });
    },

    /** Removes the mark: users of this browser are asked again to save a passkey. */
    forgetPasskeyMark: (reply: FastifyReply) =>
      void reply.clearCookie(passkeyCookie, { path: `${root}/session` }),

    languageOf,

    /** Redirects to the page of the session, with a new secret if it was rotated. A reload then sends no form again. */
    toPage(reply: FastifyReply, browser: BrowserContext, secret = browser.secret): FastifyReply {
      if (secret !== undefined) bind(reply, browser, secret);
      return reply.redirect(`${origin}${path(browser)}`, 303);
    },

    /** Sends the page of a view, or redirects to the partner if no page has to come first. */
    async sendView(reply: FastifyReply, view: View, browser: BrowserContext): Promise<FastifyReply> {
      notePartner(reply.request, view.session.partnerId);
      if (view.kind === 'leave' && !view.viaPage) return reply.redirect(view.url, 303);
      const { request } = reply;
      const csrf = sessionAccess.formToken(browser);
      setCookie(reply, { name: formCookieOf(browser.sessionId), value: csrf, at: path(browser) });
      const context: PageContext = {
        action: path(browser),
        csrf,
        language: languageOf(request, view.session),
        choiceAddress: choiceAddress(request, path(browser)),
        device: browser.device,
        onPhone: browser.device === 'phone' || isPhone(request.headers['user-agent']),
      };
      return sendPage(reply, await pages.show(view, context));
    },

    /** Sends an error: a page to browsers, the general error format to programs (docs/choices.md). */
    async sendError(error: ApiError, request: FastifyRequest, reply: FastifyReply): Promise<void> {
      void reply.headers({ vary: 'accept, accept-language', [codeHeader]: error.code });
      if (!request.headers.accept?.includes('text/html')) return void reply.send(generalBody(error));
      const device = deviceOf(request.url);
      const { session_id: sessionId } = request.params as { session_id?: string };
      // After a 5xx, the database may be unreachable: the user does not wait for it a second time.
      const mayRead = sessionId !== undefined && error.status < 500;
      const found = mayRead ? await sessions.find(sessionId).catch(() => undefined) : undefined;
      if (found) notePartner(request, found.partnerId);
      // A browser that has only the session's id must learn nothing about the session.
      const isOwn = found && device && sessionAccess.owns(found, browserOf(request, device, found._id));
      const session = isOwn ? found : undefined;
      const html = await pages.error(error, {
        language: languageOf(request, session),
        choiceAddress: choiceAddress(request, pageOf(request, device)),
        requestId: request.id,
        // "Try again" leads to the page, or else to the same address.
        retryAt: pageOf(request, device) || `${basePath}${request.url}`,
        isYourData: isYourData(request.url),
        device,
        session,
        from: session ? undefined : cameFrom(request),
      });
      void reply.type('text/html; charset=utf-8').send(html);
    },
  };
}
export type Responses = ReturnType<typeof createResponses>;
