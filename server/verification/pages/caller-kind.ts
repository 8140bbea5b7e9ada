import type { FastifyRequest } from 'fastify';
import type { CallerKind } from '../../platform/http/in-flight.ts';

/** Where a provider or a wallet sends the user, and where wallets send their answers: the service may ask others then. */
const asksOthers = /\/return\/:source$|\/wallet(\/|$)/;

/** Whose place a request of the hosted pages takes; undefined for a style sheet or an image, which cost little. */
export function pageCallerKind({ routeOptions: { url = '' } }: FastifyRequest): CallerKind | undefined {
  if (url.includes('/assets/')) return undefined;
  return asksOthers.test(url) ? 'returning_user' : 'user';
}
