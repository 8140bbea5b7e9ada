import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Db } from 'mongodb';
import { z } from 'zod';
import type { Clock } from './clock.ts';

interface Dependencies {
  db: Db;
  clock: Pick<Clock, 'trusted'>;
  /** True from the moment that the process was asked to end. */
  isStopping: () => boolean;
  /** Why this build must not use the database; undefined where it may. */
  outdated: () => string | undefined;
  /** True where no request is admitted any more, and none ends. */
  isStuck: () => boolean;
}

const Health = z.strictObject({ status: z.literal('ok') });
const Readiness = z.strictObject({ ready: z.boolean(), reasons: z.array(z.string()) });

/** Probes come every few seconds: only a change of readiness is logged. */
const logLevel = 'silent';

/** `GET /healthz`: the process lives. `GET /readyz`: it can serve, or why not. */
export function healthRoutes({
  db,
  clock,
  isStopping,
  outdated,
  isStuck,
}: Dependencies): FastifyPluginAsyncZod {
  async function reasonsAgainst(): Promise<string[]> {
    if (isStopping()) return ['the process is stopping'];
    const fault = outdated();
    if (fault !== undefined) return [`the build is too old for the database: ${fault}`];
    const reachable = await db.command({ ping: 1 }).then(
      () => true,
      () => false,
    );
    return [
      ...(reachable ? [] : ['the database is away']),
      ...(isStuck() ? ['all places for requests are taken, and none was given back for 10 s'] : []),
      ...(clock.trusted() ? [] : ['the clock is more than 2 s off the database, or was not measured lately']),
    ];
  }

  return async (scope) => {
    let known = '';
    scope.get('/healthz', { logLevel, schema: { response: { 200: Health } } }, async () => ({
      status: 'ok' as const,
    }));
    scope.get(
      '/readyz',
      { logLevel, schema: { response: { 200: Readiness, 503: Readiness } } },
      async (_request, reply) => {
        const reasons = await reasonsAgainst();
        const ready = reasons.length === 0;
        // An operator has requested the stop, so this is no warning.
        const level = ready || isStopping() ? 'info' : 'warn';
        if (String(reasons) !== known) scope.log[level]({ ready, reasons }, 'readiness changed');
        known = String(reasons);
        return reply.status(ready ? 200 : 503).send({ ready, reasons });
      },
    );
  };
}
