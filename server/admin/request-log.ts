import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RequestReference, RequestStory, type RequestView } from '../../contracts/admin/requests.ts';
import type { Clock } from '../platform/clock.ts';
import { ApiError } from '../platform/errors.ts';
import { toApiError } from '../platform/http/errors.ts';
import type { Logger } from '../platform/logging.ts';
import { viewEntry } from './audit-log.ts';
import type { AuditStore } from './audit-store.ts';
import type { Metrics } from './metrics.ts';
import { procedure, router } from './procedures.ts';
import type { RequestRecord, RequestStore } from './request-store.ts';

interface Dependencies {
  store: RequestStore;
  metrics: Pick<Metrics, 'answered'>;
  clock: Pick<Clock, 'now'>;
  log: Pick<Logger, 'warn'>;
}

const keepFor = 7 * 86_400_000;
const flushEvery = 1_000;
/** Lines kept of one flush: under load a sample of the successes, and far more of the failures. */
const mostSuccesses = 50;
const mostFailures = 200;

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length > 0 && value.length <= 128 ? value : undefined;

/** Names that the caller gave, which are no secrets; whether they exist was the endpoint's business. */
function namesIn({ body, query, params, headers }: FastifyRequest) {
  const named = (source: unknown, field: string): string | undefined =>
    typeof source === 'object' && source !== null
      ? text((source as Record<string, unknown>)[field])
      : undefined;
  const clientId = named(body, 'client_id') ?? named(query, 'client_id') ?? basicUser(headers.authorization);
  const sessionId = named(params, 'session_id');
  const integrationId = text(headers['x-svc-integration-id']);
  return {
    ...(clientId && { clientId }),
    ...(sessionId && { sessionId }),
    ...(integrationId && { integrationId }),
  };
}

function basicUser(authorization: string | undefined): string | undefined {
  const [, credentials] = /^Basic +(\S+)$/i.exec(authorization ?? '') ?? [];
  return credentials && text(Buffer.from(credentials, 'base64').toString('utf8').split(':', 1)[0]);
}

/** Notes what each request of a listener did, for `svcadmin request ID` and the metrics. */
export function createRequestLog({ store, metrics, clock, log }: Dependencies) {
  const errors = new WeakMap<FastifyRequest, ApiError>();
  let waiting: RequestRecord[] = [];
  let room = { failures: mostFailures, successes: mostSuccesses };

  async function flush(): Promise<void> {
    const batch = waiting;
    waiting = [];
    room = { failures: mostFailures, successes: mostSuccesses };
    await store.add(batch).catch((err: unknown) => log.warn({ err }, 'requests were not noted'));
  }

  function note(record: RequestRecord): void {
    const kind = record.status >= 400 ? 'failures' : 'successes';
    if (room[kind] === 0) return;
    room[kind] -= 1;
    waiting.push(record);
    if (waiting.length === 1) setTimeout(() => void flush(), flushEvery).unref();
  }

  function record(request: FastifyRequest, reply: FastifyReply): RequestRecord {
    const now = clock.now();
    const error = errors.get(request);
    const retryAfter = Number(reply.getHeader('retry-after'));
    return {
      _id: request.id,
      at: new Date(now - reply.elapsedTime),
      method: request.method,
      route: request.routeOptions.url ?? 'none',
      status: reply.statusCode,
      durationMs: Math.round(reply.elapsedTime),
      ...(error && { error: error.code, description: error.message }),
      ...namesIn(request),
      ...(retryAfter > 0 && { retryAfter }),
      address: request.ip,
      purgeAt: new Date(now + keepFor),
    };
  }

  return {
    /** To be called on a listener before its routes are registered. */
    observe(app: FastifyInstance): void {
      app.addHook('onError', async (request, _reply, error: unknown) => {
        errors.set(request, toApiError(error, request));
      });
      app.addHook('onResponse', (request, reply, done) => {
        const noted = record(request, reply);
        metrics.answered(noted);
        if (!['/healthz', '/readyz'].includes(noted.route)) note(noted);
        done();
      });
    },
    flush,
  };
}

function viewRequest({ _id, at, purgeAt: _purgeAt, ...record }: RequestRecord): RequestView {
  const {
    error = null,
    description = null,
    clientId = null,
    sessionId = null,
    integrationId = null,
  } = record;
  const { retryAfter = null, ...rest } = record;
  return {
    ...rest,
    id: _id,
    at: at.toISOString(),
    error,
    description,
    clientId,
    sessionId,
    integrationId,
    retryAfter,
  };
}

interface Sources {
  requests: Pick<RequestStore, 'find'>;
  audit: Pick<AuditStore, 'ofRequest'>;
  clock: Pick<Clock, 'now'>;
}

/** `svcadmin request ID`. */
export function createRequestProcedures({ requests, audit, clock }: Sources) {
  return router({
    show: procedure
      .input(RequestReference)
      .output(RequestStory)
      .query(async ({ input: { requestId } }) => {
        const [found, changes] = await Promise.all([
          requests.find(requestId, new Date(clock.now())),
          audit.ofRequest(requestId),
        ]);
        if (!found && changes.length === 0) {
          throw new ApiError('not_found', {
            description: `No request ${requestId}: kept for a week, and a sample under load`,
          });
        }
        return { id: requestId, request: found ? viewRequest(found) : null, changes: changes.map(viewEntry) };
      }),
  });
}
