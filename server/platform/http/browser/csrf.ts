import { randomBytes } from 'node:crypto';
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../errors.ts';
import { hmac, sameText } from '../../ids.ts';

/** A CSRF token for one form. The browser sends the secret in a cookie; the token is valid as long as the secret is. */
export function issueToken(browserSecret: string): string {
  const nonce = randomBytes(16).toString('base64url');
  return `${nonce}.${mac(browserSecret, nonce)}`;
}

export function isTokenOf(browserSecret: string, token: string): boolean {
  const [nonce = '', given = ''] = token.split('.', 2);
  return sameText(given, mac(browserSecret, nonce));
}

function mac(browserSecret: string, nonce: string): string {
  return hmac(Buffer.from(browserSecret), `csrf.${nonce}`);
}

/** The headers by which a browser tells where a request comes from. Other programs do not send them. */
interface OriginHeaders {
  origin?: string | undefined;
  'sec-fetch-site'?: string | string[] | undefined;
}

/**
 * Whether a form can come from our own page, by the headers that browsers send. Programs without these headers have no
 * cookies that another site could use; for them, only the token decides. The site is `none` for a request that the user, and
 * no page, has caused.
 */
export function isOwnOrigin({ origin, 'sec-fetch-site': site }: OriginHeaders, ownOrigin: string): boolean {
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  return origin === undefined || origin === ownOrigin;
}

/** @throws ApiError `cross_site_request` if a form or a call is not from a page of ours that this browser has received */
export function requireOwn(
  { headers }: FastifyRequest,
  origin: string,
  { secret, token }: { secret: string; token: unknown },
): void {
  if (!isOwnOrigin(headers, origin) || typeof token !== 'string' || !isTokenOf(secret, token))
    throw new ApiError('cross_site_request');
}

/** Makes the function that returns a browser's nonce, or a new one. Before a sign-in, it ties challenges and forms to a browser. */
export const nonceCookie =
  (name: string, options: CookieSerializeOptions) =>
  ({ cookies }: FastifyRequest, reply: FastifyReply): string => {
    const present = cookies[name];
    // 32 bytes are 43 characters in base64url.
    if (present !== undefined && /^[\w-]{43}$/.test(present)) return present;
    const nonce = randomBytes(32).toString('base64url');
    void reply.setCookie(name, nonce, options);
    return nonce;
  };
