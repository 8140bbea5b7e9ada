export interface PageContent {
  /**
   * The origin to which a form of the page redirects in the end; undefined if the form stays on our pages. Chromium
   * applies `form-action` to every redirect after a POST, those of the partner included. A partner may redirect to
   * another origin of its own, so any https address is allowed.
   */
  leadsTo?: string | undefined;
  /** Whether the page has a script of ours. */
  scripted?: boolean;
}

/** Allows no inline script or style, no content of other sites, and no frame around the page. */
export function contentSecurityPolicy({ leadsTo, scripted = false }: PageContent): string {
  // Any https address, because a partner may redirect further (see `leadsTo`).
  const away = leadsTo === undefined ? [] : [leadsTo, 'https:'];
  // Only test clients have redirect URIs on this machine.
  const local = leadsTo?.startsWith('http:') ? ['http://localhost:*', 'http://127.0.0.1:*'] : [];
  return [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    ...(scripted ? ["script-src 'self'", "connect-src 'self'"] : []),
    `form-action ${["'self'", ...away, ...local].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}
