import { createTRPCClient, httpLink, type TRPCClient } from '@trpc/client';
import type { AdminRouter } from '../server/wiring/admin-router.ts';
import type { Connection } from './connection.ts';

export type AdminApi = TRPCClient<AdminRouter>;

/** Longest wait for one answer in milliseconds; audits of big ledgers take a while. */
const timeoutMs = 120_000;

/** The admin API as this operator. One request per call, so that a request id names one change. */
export function createAdminApi({ url, token }: Pick<Connection, 'url' | 'token'>): AdminApi {
  return createTRPCClient<AdminRouter>({
    links: [
      httpLink({
        url: `${url}/trpc`,
        headers: { authorization: `Bearer ${token}` },
        fetch: (input, init) =>
          fetch(input, {
            ...(init as RequestInit),
            redirect: 'error',
            signal: AbortSignal.timeout(timeoutMs),
          }),
      }),
    ],
  });
}
