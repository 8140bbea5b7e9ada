import type { FastifyInstance } from 'fastify';

/** The header that lets scripts of any site read an answer. Only answers that are public and equal for all callers have it. */
export const anyOrigin = { 'access-control-allow-origin': '*' };

/** Answers the preflight request of a browser for a path whose answers have `anyOrigin` (Fetch standard, CORS protocol). */
export function allowPreflight(scope: FastifyInstance, path: string): void {
  const headers = {
    ...anyOrigin,
    'access-control-allow-methods': 'GET, HEAD',
    'access-control-allow-headers': '*',
    'access-control-max-age': '86400',
  };
  scope.options(path, { schema: { hide: true } as object }, async (_request, reply) =>
    reply.status(204).headers(headers).send(),
  );
}
