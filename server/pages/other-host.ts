import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';

/** How long a redirected address is remembered, in milliseconds. A browser follows a redirect within seconds. */
const rememberedMs = 60_000;
const mostRemembered = 10_000;

/** The name of a host in lower case, without its port; undefined if it is malformed. */
function nameOf(host: string): string | undefined {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : undefined;
}

/**
 * Decides whether a start at another host name is redirected to the base URL. Cookies belong to one host name, so a session
 * that starts elsewhere would end at the base URL without its cookie.
 * @returns the address to redirect to; undefined if the request is served here
 */
export function createHostRedirect(baseUrl: string) {
  const ownName = new URL(baseUrl).hostname;
  /** Addresses that were redirected. If one comes back, a proxy sends a Host of its own, and a redirect would not end. */
  const redirected = new LRUCache<string, true>({ max: mostRemembered, ttl: rememberedMs });

  return ({ host, url }: Pick<FastifyRequest, 'host' | 'url'>): string | undefined => {
    const name = host ? nameOf(host) : undefined;
    // An address that arrives at the base URL has found its way: a later one from the same host is redirected again.
    if (name === undefined || name === ownName || redirected.has(url)) {
      redirected.delete(url);
      return undefined;
    }
    redirected.set(url, true);
    return `${baseUrl}${url}`;
  };
}
