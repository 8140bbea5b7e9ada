import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import {
  accountRequestsPerMinute,
  EventsQuery,
  EventsResponse,
  WalletResponse,
} from '../../contracts/account.ts';
import { GeneralError } from '../../contracts/verification.ts';
import type { ApiKey } from '../partners/keys/key-store.ts';
import { admitAuthenticated } from '../platform/http/limits/in-flight.ts';
import type { RequestLimit } from '../platform/http/limits/request-limits.ts';
import { prepareQuery } from '../platform/http/parameters.ts';
import { createRequestCallers } from '../platform/http/request-callers.ts';
import type { EventList } from './events.ts';

type Key = Pick<ApiKey, '_id' | 'partnerId' | 'mode'>;

interface Dependencies {
  /** @throws ApiError `missing_api_key`, `invalid_api_key` */
  authenticate: (authorization: string | undefined) => Promise<Key>;
  listEvents: EventList;
  readWallet: (wallet: Pick<Key, 'partnerId' | 'mode'>) => Promise<WalletResponse['wallet']>;
  limit: RequestLimit;
}

/** Returns the routes `/api/events` and `/api/wallet`. With an API key, a partner's programs read events and wallet there. */
export function accountRoutes(dependencies: Dependencies): FastifyPluginAsyncZod {
  const { authenticate, listEvents, readWallet, limit } = dependencies;
  const keys = createRequestCallers<Key>();

  const perMinute = accountRequestsPerMinute;

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
        preValidation: prepareQuery,
      },
      async (request) => {
        const key = keys.require(request);
        await limit('account-events', key._id, { perMinute });
        return listEvents(key._id, request.query);
      },
    );

    scope.get(
      '/wallet',
      { schema: { response: { 200: WalletResponse, '4xx': GeneralError, '5xx': GeneralError } } },
      async (request) => {
        const key = keys.require(request);
        await limit('account-wallet', key._id, { perMinute });
        const wallet = await readWallet(key);
        return { success: true as const, wallet };
      },
    );
  };
}
