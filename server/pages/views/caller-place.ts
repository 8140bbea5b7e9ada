import type { FastifyRequest } from 'fastify';
import type { CallerPlace } from '../../platform/http/limits/in-flight.ts';

/** Routes of returning browsers and of answers from identity wallets. They may wait for other servers. */
const returnRoutes = /\/return\/:source$|\/wallet(\/|$)/;

/**
 * Returns the place that a page request needs. Users of one identity provider share places, because one that hangs would else
 * take all. Undefined for assets, which cost little and need none.
 */
export function pageCallerPlace({
  routeOptions: { url = '' },
  params,
}: FastifyRequest): CallerPlace | undefined {
  if (url.includes('/assets/')) return undefined;
  if (!returnRoutes.test(url)) return { kind: 'user' };
  const { source = 'identity wallet' } = params as { source?: string };
  return { kind: 'returning_user', sharer: source };
}
