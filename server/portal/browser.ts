import { randomBytes } from 'node:crypto';
import type {} from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../platform/errors.ts';
import { isOwnOrigin, isTokenOf } from '../platform/http/csrf.ts';

const sessionCookie = 'svc_portal';
/** Binds challenges, and forms before the sign-in, to the browser. */
const nonceCookie = 'svc_portal_nonce';
/** The header with the CSRF token of calls of `/portal/trpc` that change something. */
const csrfHeader = 'x-csrf-token';

export type Browser = ReturnType<typeof createBrowser>;

/** Cookies and forms of the portal's pages. @param baseUrl without a trailing slash */
export function createBrowser(baseUrl: string) {
  const { origin, pathname, protocol } = new URL(baseUrl);
  const root = `${pathname.replace(/\/$/, '')}/portal`;
  const options = {
    path: root,
    httpOnly: true,
    sameSite: 'lax',
    secure: protocol === 'https:',
  } as const;

  function requireToken(request: FastifyRequest, secret: string, token: unknown): void {
    const isOwn = isOwnOrigin(request.headers, origin);
    if (!isOwn || typeof token !== 'string' || !isTokenOf(secret, token))
      throw new ApiError('cross_site_request');
  }

  return {
    /** The path of the portal's pages. */
    root,
    secure: options.secure,

    sessionOf: ({ cookies }: FastifyRequest): string | undefined => cookies[sessionCookie],
    setSession: (reply: FastifyReply, secret: string) => void reply.setCookie(sessionCookie, secret, options),
    clearSession: (reply: FastifyReply) => void reply.clearCookie(sessionCookie, options),

    /** The browser's nonce, or a new one if it has none. */
    nonceOf(request: FastifyRequest, reply: FastifyReply): string {
      const known = request.cookies[nonceCookie];
      if (known !== undefined && /^[\w-]{43}$/.test(known)) return known;
      const nonce = randomBytes(32).toString('base64url');
      void reply.setCookie(nonceCookie, nonce, options);
      return nonce;
    },

    /** @throws ApiError `cross_site_request` for a form that is not from a page of this browser */
    requireOwnForm(request: FastifyRequest, secret: string): void {
      const { csrf } = (request.body ?? {}) as { csrf?: unknown };
      requireToken(request, secret, csrf);
    },

    /** @throws ApiError `cross_site_request` for a call that changes something without a CSRF token */
    requireOwnCall(request: FastifyRequest, secret: string): void {
      if (request.method !== 'GET') requireToken(request, secret, request.headers[csrfHeader]);
    },
  };
}
