import type { FastifyHelmetOptions } from '@fastify/helmet';

/** Headers of every page, errors included; the content security policy differs from page to page. */
export function pageHeaders(secure: boolean): FastifyHelmetOptions {
  return {
    contentSecurityPolicy: false,
    // Not `no-referrer`: browsers would then send our own forms with `Origin: null`.
    referrerPolicy: { policy: 'same-origin' },
    strictTransportSecurity: secure ? { maxAge: 31_536_000 } : false,
    xFrameOptions: { action: 'deny' },
  };
}

/**
 * No script, no inline style, no frame around us.
 * @param formTargets origins where a form of the page may lead: browsers apply `form-action` to the redirects
 *   that follow a POST as well, so the partner's own has to be among them
 */
export function contentSecurityPolicy(formTargets: readonly string[]): string {
  return [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    `form-action ${["'self'", ...new Set(formTargets)].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}
