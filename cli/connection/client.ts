import { createTRPCClient, httpLink, type TRPCClient } from '@trpc/client';
import { environmentHeader, tokenExpiryHeader } from '../../contracts/environment-header.ts';
import type { AdminRouter } from '../../server/operations/admin-router.ts';
import type { ShowWaiting } from '../output/waiting.ts';
import type { Connection } from './connection.ts';
import { type Answer, createSend } from './http.ts';

export type AdminApi = TRPCClient<AdminRouter>;

/** Returns the end of a dry run that an error of a call stands for. tRPC wraps what a response throws. */
export function dryRunEndIn(error: unknown): DryRunEnd | undefined {
  if (error instanceof DryRunEnd) return error;
  return error instanceof Error && error.cause !== undefined ? dryRunEndIn(error.cause) : undefined;
}

/** Throws if a response says that a change passed the checks of a dry run. @throws DryRunEnd */
function endDryRun({ text }: Answer): void {
  const changes = DryRunAnswer.exec(text)?.groups?.['changes'];
  if (changes !== undefined) throw new DryRunEnd(changes === 'true');
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
  const send = createSend(ca);
  return createTRPCClient<AdminRouter>({
    links: [
      httpLink({
        url: `${url}${apiPath}${isDryRun ? '/dry-run' : ''}`,
        headers: { authorization: `Bearer ${token}` },
        fetch: async (input, init) => {
          const { method, headers, body } = init as {
            method?: string;
            headers?: Record<string, string>;
            body?: string;
          };
          const answer = await showWaiting(send(String(input), { method, headers, body, timeoutMs }));
          const environment = answer.headers.get(environmentHeader);
          if (environment !== null) onEnvironment?.(environment);
          const expiresAt = answer.headers.get(tokenExpiryHeader);
          if (expiresAt !== null) onTokenExpiry?.(expiresAt);
          const isJson = answer.headers.get('content-type')?.includes('json') ?? false;
          if (isDryRun && answer.ok) endDryRun(answer);
          // A proxy answers 503 with a page. tRPC reads only JSON, and its error for a page does not have the status.
          return answer.status === 503 && !isJson ? { ...answer, json: async () => ({}) } : answer;
        },
      }),
    ],
  });
}
