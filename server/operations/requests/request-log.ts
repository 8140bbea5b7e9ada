import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../platform/clock.ts';
import { failureOf, routeOf } from '../../platform/http/answer-log.ts';
import { networkOf } from '../../platform/http/limits/client-network.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import { maskSecrets } from '../../platform/telemetry/masking.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Stores } from '../stores.ts';
import { existingNames } from './existing-names.ts';
import type { Dropped } from './request-gap-store.ts';
import { hasNames, type Names, namesIn, ownerOf, possiblyMistyped, storedNames } from './request-names.ts';
import { type RequestRecord, requestRetentionMs } from './request-store.ts';

interface Dependencies {
  stores: Stores;
  metrics: Pick<Metrics, 'answered'>;
  clock: Pick<Clock, 'now'>;
  log: Pick<Logger, 'warn'>;
  /** The time for which requests are collected before they are written, in milliseconds. */
  flushEvery: number;
}

/** A request that waits to be written, and the names in it that decide whether it is written. */
interface Noted {
  record: RequestRecord;
  names: Names;
}

/** The most rows that one flush writes. Under load, a smaller share of successes is kept than of failures. */
const mostSuccesses = 50;
const mostFailures = 200;
const noneDropped: Dropped = { failures: 0, successes: 0 };

const kindOf = (status: number): keyof Dropped => (status >= 400 ? 'failures' : 'successes');

/** The number of bits of an address that are kept. They identify a network, not a person. */
const keptBits = { ipv4: 24, ipv6: 48 };

/** Records the requests of a listener for `svcadmin request ID`, and counts them for the metrics. */
export function createRequestLog({ stores, metrics, clock, log, flushEvery }: Dependencies) {
  const { requests, gaps } = stores.admin;
  let waiting: Noted[] = [];
  /** How many more requests of each kind the next flush takes. Others are dropped. */
  let remaining = { failures: mostFailures, successes: mostSuccesses };
  /** The dropped requests that the store does not know of yet. */
  let dropped: Dropped = noneDropped;

  async function flush(): Promise<void> {
    const batch = waiting;
    waiting = [];
    remaining = { failures: mostFailures, successes: mostSuccesses };
    await write(batch).catch((err: unknown) => {
      log.warn({ err }, 'requests were not noted');
      for (const { record } of batch) drop(kindOf(record.status));
    });
    await markDropped();
  }

  const drop = (kind: keyof Dropped): void => {
    dropped = { ...dropped, [kind]: dropped[kind] + 1 };
  };

  /** Stores that requests were dropped. If this fails, the next flush does it. */
  async function markDropped(): Promise<void> {
    const marked = dropped;
    if (marked.failures + marked.successes === 0) return;
    dropped = noneDropped;
    await gaps.add(marked, clock.now()).catch((err: unknown) => {
      log.warn({ err }, 'dropped requests were not noted');
      dropped = {
        failures: dropped.failures + marked.failures,
        successes: dropped.successes + marked.successes,
      };
    });
  }

  /** Writes the requests that name a known client, key, integration or session. */
  async function write(batch: readonly Noted[]): Promise<void> {
    if (batch.length === 0) return;
    const owners = await existingNames(
      stores,
      batch.map(({ names }) => names),
    );
    await requests.add(
      batch.flatMap(({ names, record }) => {
        const owner = ownerOf(names, owners);
        return owner ? [{ ...record, ...owner }] : [];
      }),
    );
  }

  /** Adds a request to the next flush, which the first request after a flush schedules. */
  function note(request: FastifyRequest, reply: FastifyReply): void {
    const kind = kindOf(reply.statusCode);
    if (remaining[kind] === 0) {
      drop(kind);
      return;
    }
    const names = namesIn(request, reply);
    if (!hasNames(names)) return;
    remaining[kind] -= 1;
    waiting.push({ record: recordOf(request, reply, names), names });
    if (waiting.length === 1) setTimeout(() => void flush(), flushEvery).unref();
  }

  function recordOf(request: FastifyRequest, reply: FastifyReply, names: Names): RequestRecord {
    const now = clock.now();
    const error = failureOf(request);
    const retryAfter = Number(reply.getHeader('retry-after'));
    return {
      _id: request.id,
      // The hook runs after the response, but a request is listed by the time of its arrival.
      at: new Date(now - reply.elapsedTime),
      method: request.method,
      route: routeOf(request),
      status: reply.statusCode,
      durationMs: Math.round(reply.elapsedTime),
      ...(error && { error: error.code, description: maskSecrets(error.message) }),
      ...storedNames(names),
      ...(error && possiblyMistyped(request)),
      ...(retryAfter > 0 && { retryAfter }),
      address: networkOf(request.ip, keptBits),
      purgeAt: new Date(now + requestRetentionMs),
    };
  }

  return {
    /** Adds the hook to a listener. Call this before the routes of the listener are registered. */
    observe(app: FastifyInstance): void {
      app.addHook('onResponse', (request, reply, done) => {
        const error = failureOf(request);
        metrics.answered({
          route: routeOf(request),
          status: reply.statusCode,
          ...(error && { error: error.code, description: error.message }),
        });
        note(request, reply);
        done();
      });
    },
    flush,
  };
}
