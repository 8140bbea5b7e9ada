import type {} from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { nonceCookie, requireOwn } from '../../platform/http/browser/csrf.ts';
import { pathOf } from '../../platform/http/parameters.ts';

/** The header with the CSRF token of calls of `/portal/trpc` that change something. */
const csrfHeader = 'x-csrf-token';

export type Browser = ReturnType<typeof createBrowser>;

const mountPath = '/portal';

/** Addresses, cookies and forms of the portal's pages. @param baseUrl without a trailing slash */
export function createBrowser(baseUrl: string) {
  const { origin, pathname, protocol } = new URL(baseUrl);
  const basePath = pathname.replace(/\/$/, '');
  const root = `${basePath}${mountPath}`;
  const secure = protocol === 'https:';
  // With `__Host-`, a browser takes the cookie from this host by https only, not from another host of the same domain. Such a cookie
  // has the path `/`.
  const prefix = secure ? '__Host-' : '';
  const sessionCookie = `${prefix}svc_portal`;
  const cookieOptions = {
    path: secure ? '/' : root,
    httpOnly: true,
    // Not `strict`: a link in an e-mail then shows a page to a member who is signed in.
    sameSite: 'lax',
    secure,
  } as const;

  return {
    /** The path of the base URL, without a trailing slash. A proxy removes it from each request. */
    basePath,
    root,
    secure,

    /** The path of the requested page below `/portal`, such as `/clients`. */
    pathOf({ url }: FastifyRequest): string {
      return pathOf(url).slice(mountPath.length) || '/';
    },

    sessionOf: ({ cookies }: FastifyRequest): string | undefined => cookies[sessionCookie],
    setSession: (reply: FastifyReply, secret: string) =>
      void reply.setCookie(sessionCookie, secret, cookieOptions),
    clearSession: (reply: FastifyReply) => void reply.clearCookie(sessionCookie, cookieOptions),

    nonceOf: nonceCookie(`${prefix}svc_portal_nonce`, cookieOptions),

    /** @throws ApiError `cross_site_request` for a form that is not from a page of this browser */
    requireOwnForm(request: FastifyRequest, secret: string): void {
      const { csrf } = (request.body ?? {}) as { csrf?: unknown };
      requireOwn(request, origin, { secret, token: csrf });
    },

    /** @throws ApiError `cross_site_request` for a call that changes something without a CSRF token */
    requireOwnCall(request: FastifyRequest, secret: string): void {
      const { [csrfHeader]: token } = request.headers;
      if (request.method !== 'GET') requireOwn(request, origin, { secret, token });
    },
  };
}
