import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import { ServiceStatus } from '../../../contracts/service-status.ts';
import { renderStatus } from './page.ts';

/** The status changes once a minute. A short cache keeps many simultaneous readers from reaching the service. */
const cacheControl = 'public, max-age=15';

/** The HTML page into which the status is put, and the headers of such a page. */
export interface StatusShell {
  html: string;
  headers: Readonly<Record<string, string>>;
}

/**
 * Returns the routes `GET /status`, which is HTML for browsers and JSON for programs, and `GET /status.json`.
 */
export function statusRoutes(
  { html: shell, headers: pageHeaders }: StatusShell,
  read: () => Promise<ServiceStatus>,
): FastifyPluginAsync {
  return async (app) => {
    // The OpenAPI document leaves these routes out.
    const schema = { hide: true } as object;
    const json = async (reply: FastifyReply) =>
      reply.header('cache-control', cacheControl).send(ServiceStatus.parse(await read()));

    app.get('/status', { schema }, async ({ headers }, reply) => {
      void reply.header('vary', 'accept');
      if (!headers.accept?.includes('text/html')) return json(reply);
      void reply.headers({ ...pageHeaders, 'cache-control': cacheControl }).type('text/html; charset=utf-8');
      return reply.send(renderStatus(shell, await read()));
    });
    app.get('/status.json', { schema }, async (_request, reply) => json(reply));
  };
}
