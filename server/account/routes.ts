import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import {
  accountRequestsPerMinute,
  EventsQuery,
  EventsResponse,
  WalletResponse,
} from '../../contracts/account.ts';
import type { Mode } from '../../contracts/identifiers.ts';
import { GeneralError } from '../../contracts/verification.ts';
import { ApiError } from '../platform/errors.ts';
import { admitAuthenticated } from '../platform/http/in-flight.ts';
import { requireOnce, withoutEmpty } from '../platform/http/parameters.ts';
import { createRequestCallers } from '../platform/http/request-callers.ts';
import type { RequestLimit } from '../platform/http/request-limits.ts';
import type { EventList } from './events.ts';

interface Key {
  _id: string;
  partnerId: string;
  mode: Mode;
}

interface Dependencies {
  /** @throws ApiError `missing_api_key`, `invalid_api_key` */
  authenticate: (authorization: string | undefined) => Promise<Key>;
  listEvents: EventList;
  /** Reads the wallet of a key's partner and mode. */
  readWallet: (wallet: Pick<Key, 'partnerId' | 'mode'>) => Promise<WalletResponse['wallet']>;
  limit: RequestLimit;
}

/** Refuses repeated parameters, and removes empty ones, which count as absent. Runs before the schema checks the query. */
async function normaliseQuery(request: FastifyRequest): Promise<void> {
  requireOnce(request.query);
  request.query = withoutEmpty(request.query);
}

/** Returns the routes `/api/events` and `/api/wallet`. With an API key, a partner's programs read events and wallet there. */
export function accountRoutes(dependencies: Dependencies): FastifyPluginAsyncZod {
  const { authenticate, listEvents, readWallet, limit } = dependencies;
  const keys = createRequestCallers<Key>();

  /** Counts a request of a key. @throws ApiError `rate_limited` if the key has used its limit for this endpoint */
  async function requireAllowance(endpoint: 'events' | 'wallet', { _id }: Key): Promise<void> {
    const { allowed, retryAfter } = await limit(`account-${endpoint}`, _id, accountRequestsPerMinute);
    if (!allowed) throw new ApiError('rate_limited', { retryAfter });
  }

  return async (scope) => {
    scope.addHook('onRequest', async (request, reply) => {
      void reply.header('cache-control', 'no-store');
      const key = await authenticate(request.headers.authorization);
      keys.set(request, key);
      // From here on, the request takes capacity that is reserved for callers with valid credentials.
      await admitAuthenticated(request, key.partnerId);
    });

    scope.get(
      '/events',
      {
        schema: {
          querystring: EventsQuery,
          response: { 200: EventsResponse, '4xx': GeneralError, '5xx': GeneralError },
        },
        preValidation: normaliseQuery,
      },
      async (request) => {
        const key = keys.require(request);
        await requireAllowance('events', key);
        return listEvents(key._id, request.query);
      },
    );

    scope.get(
      '/wallet',
      { schema: { response: { 200: WalletResponse, '4xx': GeneralError, '5xx': GeneralError } } },
      async (request) => {
        const key = keys.require(request);
        await requireAllowance('wallet', key);
        const wallet = await readWallet(key);
        return { success: true as const, wallet };
      },
    );
  };
}
