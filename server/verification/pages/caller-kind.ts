import type { FastifyRequest } from 'fastify';
import type { CallerKind } from '../../platform/http/in-flight.ts';

/** Routes of returning browsers and of answers from identity wallets. They may wait for other servers. */
const returnRoutes = /\/return\/:source$|\/wallet(\/|$)/;

/** Returns the kind of caller of a page request. Each kind has a limit of requests in flight. Undefined for assets, which cost
 * little, and so have none. */
export function pageCallerKind({ routeOptions: { url = '' } }: FastifyRequest): CallerKind | undefined {
  if (url.includes('/assets/')) return undefined;
  return returnRoutes.test(url) ? 'returning_user' : 'user';
}
