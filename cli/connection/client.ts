import { createTRPCClient, httpLink, type TRPCClient } from '@trpc/client';
import { environmentHeader, tokenExpiryHeader } from '../../contracts/environment-header.ts';
import type { AdminRouter } from '../../server/wiring/admin-router.ts';
import type { ShowWaiting } from '../output/waiting.ts';
import { fetchTrusting } from './certificates.ts';
import type { Connection } from './connection.ts';

export type AdminApi = TRPCClient<AdminRouter>;

/** The time limit of a response, in milliseconds. It is long, because the audit of a big ledger is slow. */
const timeoutMs = 120_000;

type Server = Pick<Connection, 'url' | 'token' | 'ca'> & Partial<Pick<Connection, 'apiPath'>>;

interface Observers {
  /** Called with the environment that each response names. Older servers name none. */
  onEnvironment?: (environment: string) => void;
  /** Called with the expiry of the token in its last week. */
  onTokenExpiry?: (at: string) => void;
  showWaiting?: ShowWaiting;
}

/**
 * Makes a client of the admin API for an operator, or of its part for a member. Each call is one request, so that a request id
 * identifies one change.
 */
export function createAdminApi(
  { url, token, ca, apiPath = '/trpc' }: Server,
  { onEnvironment, onTokenExpiry, showWaiting = (work) => work }: Observers = {},
): AdminApi {
  const send = fetchTrusting(ca);
  return createTRPCClient<AdminRouter>({
    links: [
      httpLink({
        url: `${url}${apiPath}`,
        headers: { authorization: `Bearer ${token}` },
        fetch: async (input, init) => {
          const signal = AbortSignal.timeout(timeoutMs);
          // The API never redirects. The token must not go to another server.
          const responsePromise = send(input, { ...(init as RequestInit), redirect: 'error', signal });
          const response = await showWaiting(responsePromise);
          const environment = response.headers.get(environmentHeader);
          if (environment !== null) onEnvironment?.(environment);
          const expiresAt = response.headers.get(tokenExpiryHeader);
          if (expiresAt !== null) onTokenExpiry?.(expiresAt);
          const isJson = response.headers.get('content-type')?.includes('json') ?? false;
          if (response.status !== 503 || isJson) return response;
          // A proxy answers 503 with a page. tRPC reads only JSON, and its error for a page does not have the status.
          await response.body?.cancel();
          return Response.json({}, response);
        },
      }),
    ],
  });
}
