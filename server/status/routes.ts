import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import { ServiceStatus } from '../../contracts/service-status.ts';
import { renderStatus } from './page.ts';

/** It changes by the minute; a page that many read at once may come from a cache. */
const cacheControl = 'public, max-age=15';

/**
 * `GET /status` for browsers, and the same as JSON for programs, which `/status.json` is for both.
 * @param shell the page that the status stands in
 */
export function statusRoutes(shell: string, read: () => Promise<ServiceStatus>): FastifyPluginAsync {
  return async (app) => {
    const schema = { hide: true } as object;
    const json = async (reply: FastifyReply) =>
      reply.header('cache-control', cacheControl).send(ServiceStatus.parse(await read()));

    app.get('/status', { schema }, async ({ headers }, reply) => {
      void reply.header('vary', 'accept');
      if (!headers.accept?.includes('text/html')) return json(reply);
      void reply.header('cache-control', cacheControl).type('text/html; charset=utf-8');
      return reply.send(renderStatus(shell, await read()));
    });
    app.get('/status.json', { schema }, async (_request, reply) => json(reply));
  };
}
