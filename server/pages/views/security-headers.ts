import { ownFiles, securityPolicy } from '../../platform/http/browser/pages.ts';

export interface PageContent {
  /**
   * The scheme of the address to which a form of the page redirects in the end; undefined if the form stays on our pages.
   * Chromium applies `form-action` to every redirect after a POST, those of the partner included. A partner may redirect to
   * another host of its own, so any https address is allowed. No text of a partner becomes a part of a header.
   */
  leadsTo?: 'https' | 'http' | undefined;
  /** Whether the page has a script of ours. */
  scripted?: boolean;
}

/** Allows no inline script or style, no content of other sites, and no frame around the page. */
export function contentSecurityPolicy({ leadsTo, scripted = false }: PageContent): string {
  const away = leadsTo === undefined ? [] : ['https:'];
  // Only test clients have redirect URIs without TLS, which are on this machine.
  const local = leadsTo === 'http' ? ['http://localhost:*', 'http://127.0.0.1:*'] : [];
  const formAction = `form-action ${["'self'", ...away, ...local].join(' ')}`;
  return securityPolicy(ownFiles, scripted && "script-src 'self'; connect-src 'self'", formAction);
}
