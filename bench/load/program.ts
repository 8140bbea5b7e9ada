import { Client } from 'undici';
import { answerCalls } from '../remote.ts';
import { percentile } from '../statistics.ts';
import type { LoadRequest, LoadResult, Order } from './load.ts';

/** One connection, and the index of its origin. */
interface Caller {
  client: Client;
  origin: number;
  /** Called when there are no more requests. */
  done: () => void;
}

/**
 * The load generator. Each caller has one connection, and sends its next request after the last answer. Requests are
 * complete strings before the first is sent. Answers are only counted, unless their bodies are wanted.
 */
async function run(order: Order): Promise<LoadResult> {
  const { origins, path, requests, callers, perSecond, keepBodies, refusal, forSeconds, retryMs, lost } =
    order;
  const clients = Array.from(
    { length: callers },
    (_, n) =>
      new Client(origins[n % origins.length] ?? '', {
        pipelining: 1,
        headersTimeout: 30_000,
        bodyTimeout: 30_000,
      }),
  );
  await Promise.all(clients.map((client) => connected(client)));
  const queue = [...requests];
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};
  const granted = origins.map(() => 0);
  const tenths: number[] = [];
  const bodies: string[] = [];
  const failures: string[] = [];
  let next = 0;

  function send(caller: Caller): void {
    const index = next;
    next += 1;
    const request = queue[index];
    const now = performance.now();
    const early = perSecond === undefined ? 0 : startedAt + (index * 1000) / perSecond - now;
    if (request === undefined || now + Math.max(0, early) >= endsAt) {
      caller.done();
      return;
    }
    if (early > 0) setTimeout(dispatch, early, caller, request);
    else dispatch(caller, request);
  }

  function dispatch(caller: Caller, request: LoadRequest): void {
    const chunks: Buffer[] = [];
    const sentAt = performance.now();
    const finish = (status: string) => {
      latencies.push(performance.now() - sentAt);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === '503' && retryMs !== undefined) {
        setTimeout(dispatch, retryMs, caller, request);
        return;
      }
      const text = Buffer.concat(chunks).toString();
      if (status === '200') {
        granted[caller.origin] = (granted[caller.origin] ?? 0) + 1;
        const tenth = Math.floor((performance.now() - startedAt) / 100);
        tenths[tenth] = (tenths[tenth] ?? 0) + 1;
        if (keepBodies) bodies.push(text);
      } else if (status === '400' && lost !== undefined && text.includes(lost)) {
        // Counted together with the statuses.
      } else if (status !== '429' || refusal === undefined || !text.includes(refusal)) {
        failures.push(`${status} ${text}`);
      } else if (forSeconds !== undefined) queue.push(request);
      setImmediate(send, caller);
    };
    let status = '';
    const { body, authorization } = request;
    const form = ['content-type', 'application/x-www-form-urlencoded'];
    caller.client.dispatch(
      body === undefined
        ? { path, method: 'GET', headers: ['authorization', authorization] }
        : { path, method: 'POST', headers: form, body },
      {
        onRequestStart: () => undefined,
        onResponseStart: (_controller, statusCode) => {
          status = String(statusCode);
        },
        onResponseData: (_controller, chunk) => {
          if (keepBodies || status !== '200') chunks.push(chunk);
        },
        onResponseEnd: () => finish(status),
        onResponseError: (_controller, error) => finish(error.name),
      },
    );
  }

  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const endsAt = forSeconds === undefined ? Number.POSITIVE_INFINITY : startedAt + forSeconds * 1000;
  const ended = clients.map(
    (client, n) => new Promise<void>((done) => send({ client, origin: n % origins.length, done })),
  );
  await Promise.all(ended);
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  await Promise.all(clients.map((client) => client.close()));
  const sorted = Float64Array.from(latencies).sort();
  return {
    seconds,
    statuses,
    granted,
    tenths: Array.from(tenths, (count) => count ?? 0),
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    cpuSeconds: (user + system) / 1e6,
    bodies,
    failures: failures.slice(0, 3),
  };
}

/** Opens connections before the measurement, with a request for an unknown path. */
async function connected(client: Client): Promise<void> {
  const { body } = await client.request({ path: '/bench', method: 'GET' });
  await body.dump();
}

answerCalls({ run });
