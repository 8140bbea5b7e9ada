import { createTRPCClient, httpLink, type TRPCClient } from '@trpc/client';
import { environmentHeader, tokenExpiryHeader } from '../../contracts/environment-header.ts';
import type { AdminRouter } from '../../server/operations/admin-router.ts';
import type { ShowWaiting } from '../output/waiting.ts';
import { fetchTrusting } from './certificates.ts';
import type { Connection } from './connection.ts';

export type AdminApi = TRPCClient<AdminRouter>;

/** Returns the end of a dry run that an error of a call stands for. tRPC wraps what a response throws. */
export function dryRunEndIn(error: unknown): DryRunEnd | undefined {
  if (error instanceof DryRunEnd) return error;
  return error instanceof Error && error.cause !== undefined ? dryRunEndIn(error.cause) : undefined;
}

/** Returns the response of a query, or of a change that is made already. @throws DryRunEnd */
async function endDryRun(response: Response): Promise<Response> {
  const text = await response.text();
  const changes = DryRunAnswer.exec(text)?.groups?.['changes'];
  if (changes !== undefined) throw new DryRunEnd(changes === 'true');
  return new Response(text, response);
}

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

/** Thrown by a call of a dry run that passed all checks of the server. */
export class DryRunEnd extends Error {
  /** Whether the real call would change something. */
  readonly changes: boolean;
  constructor(changes: boolean) {
    super('The dry run ended');
    this.changes = changes;
  }
}

const DryRunAnswer = /^\{"result":\{"data":\{"dryRun":true,"changes":(?<changes>true|false)\}\}\}$/;

/**
 * Makes a client of the admin API for an operator, or of its part for a member. Each call is one request, so that a request id
 * identifies one change.
 * @param server.isDryRun whether changes are only checked. Then each that passes the checks throws `DryRunEnd`
 */
export function createAdminApi(
  { url, token, ca, apiPath = '/trpc', isDryRun = false }: Server & { isDryRun?: boolean },
  { onEnvironment, onTokenExpiry, showWaiting = (work) => work }: Observers = {},
): AdminApi {
  const send = fetchTrusting(ca);
  return createTRPCClient<AdminRouter>({
    links: [
      httpLink({
        url: `${url}${apiPath}${isDryRun ? '/dry-run' : ''}`,
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
          if (isDryRun && response.ok) return endDryRun(response);
          if (response.status !== 503 || isJson) return response;
          // A proxy answers 503 with a page. tRPC reads only JSON, and its error for a page does not have the status.
          await response.body?.cancel();
          return Response.json({}, response);
        },
      }),
    ],
  });
}
