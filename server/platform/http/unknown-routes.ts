import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors.ts';
import { pathOf } from './parameters.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route answers all paths that no other route of its scope has. They stay unknown. */
    isFallback?: boolean;
  }
  interface FastifyInstance {
    /** The error of a request whose path or method no route has. */
    unknownRoute: (request: Pick<FastifyRequest, 'url' | 'method'>) => ApiError;
  }
}

/** Matches the paths of a route's template, in which `:name` stands for one part and `*` for any characters. */
function patternOf(template: string): RegExp {
  const escaped = template.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/:[^/]+/g, '[^/]+').replace(/\*/g, '.*')}$`);
}

/** Makes the answers to unknown routes by the routes of a server: 404 for unknown paths, 405 with `Allow` for known ones. */
function createUnknownRoute(app: FastifyInstance): FastifyInstance['unknownRoute'] {
  const routes: { url: string; methods: string[] }[] = [];
  app.addHook('onRoute', ({ url, method, config }) => {
    if (!config?.isFallback) routes.push({ url, methods: [method].flat() });
  });
  /** The routes by their patterns. They are made for the first unknown route, because they would make each start longer. */
  let known: { pattern: RegExp; methods: string[] }[] | undefined;

  return (request) => {
    const path = pathOf(request.url);
    known ??= routes.map(({ url, methods }) => ({ pattern: patternOf(url), methods }));
    const allowed = new Set(
      known.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods),
    );
    // RFC 9110 15.1 would allow caches to keep both answers.
    const headers = { 'cache-control': 'no-store', pragma: 'no-cache' };
    // A route for files may allow the method, but have no file at this path.
    if (allowed.size === 0 || allowed.has(request.method))
      return new ApiError('route_not_found', { headers });
    return new ApiError('method_not_allowed', {
      headers: { ...headers, allow: [...allowed].join(', ') },
    });
  };
}

/** Answers requests for unknown paths below the prefix of `scope` with its own hooks and in its own format of errors. */
export function ownUnknownRoutes(scope: FastifyInstance): void {
  scope.setNotFoundHandler((request) => {
    throw scope.unknownRoute(request);
  });
}

/**
 * Refuses unknown paths and methods on the whole server before their bodies are read. So a malformed body does not change the
 * answer. Call this before the hooks that check bodies.
 */
export function refuseUnknownRoutes(app: FastifyInstance): void {
  app.decorate('unknownRoute', createUnknownRoute(app));
  app.addHook('preParsing', async (request) => {
    if (request.is404) throw app.unknownRoute(request);
  });
  ownUnknownRoutes(app);
}
