import { createTRPCClient, httpLink, type TRPCClient } from '@trpc/client';
import { environmentHeader } from '../contracts/environment-header.ts';
import type { AdminRouter } from '../server/wiring/admin-router.ts';
import type { Connection } from './connection.ts';

export type AdminApi = TRPCClient<AdminRouter>;

/** Longest wait for one answer in milliseconds; audits of big ledgers take a while. */
const timeoutMs = 120_000;

/**
 * The admin API as this operator. One request per call, so that a request id names one change.
 * @param learn gets the environment that each answer names; servers before it did get none
 */
export function createAdminApi(
  { url, token }: Pick<Connection, 'url' | 'token'>,
  learn: (environment: string) => void = () => undefined,
): AdminApi {
  return createTRPCClient<AdminRouter>({
    links: [
      httpLink({
        url: `${url}/trpc`,
        headers: { authorization: `Bearer ${token}` },
        fetch: async (input, init) => {
          const signal = AbortSignal.timeout(timeoutMs);
          const response = await fetch(input, { ...(init as RequestInit), redirect: 'error', signal });
          const environment = response.headers.get(environmentHeader);
          if (environment !== null) learn(environment);
          return response;
        },
      }),
    ],
  });
}
