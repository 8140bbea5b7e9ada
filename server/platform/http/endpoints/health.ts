import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Readiness } from './readiness.ts';

const Health = z.strictObject({ status: z.literal('ok') });
const Ready = z.strictObject({ ready: z.boolean(), reasons: z.array(z.string()) });

/** Probes are frequent, so their requests are not logged; a change of readiness is. */
const logLevel = 'silent';

/**
 * `GET /healthz`: the process is alive. `GET /readyz`: whether it can serve, and why not. `hide` leaves them out of the OpenAPI
 * document.
 */
export function healthRoutes(readiness: Pick<Readiness, 'check'>): FastifyPluginAsyncZod {
  return async (scope) => {
    scope.get('/healthz', { logLevel, schema: { response: { 200: Health }, hide: true } }, async () => ({
      status: 'ok' as const,
    }));
    scope.get(
      '/readyz',
      { logLevel, schema: { response: { 200: Ready, 503: Ready }, hide: true } },
      async (_request, reply) => {
        const reasons = (await readiness.check()).map(({ text }) => text);
        const ready = reasons.length === 0;
        return reply.status(ready ? 200 : 503).send({ ready, reasons });
      },
    );
  };
}
