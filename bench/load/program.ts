import { Client } from 'undici';
import { answerCalls } from '../remote.ts';
import { percentile } from '../statistics.ts';
import type { LoadRequest, LoadResult, Order } from './load.ts';

/** The request that a caller sends next, and whom it tells when there are no more. */
interface Turn {
  index: number;
  request: LoadRequest;
  done: () => void;
}

/**
 * The load generator: each caller has one connection and sends its next request when its last is answered.
 * Requests are complete strings before the first is sent; answers are only counted, unless they are asked for.
 */
async function run({ origins, path, requests, callers, perSecond, keepBodies }: Order): Promise<LoadResult> {
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
  const latencies = new Float64Array(requests.length);
  const statuses: Record<string, number> = {};
  const bodies: string[] = [];
  const failures: string[] = [];
  let next = 0;

  function send(client: Client, done: () => void): void {
    const index = next;
    next += 1;
    const request = requests[index];
    if (request === undefined) {
      done();
      return;
    }
    const early = perSecond === undefined ? 0 : startedAt + (index * 1000) / perSecond - performance.now();
    if (early > 0) setTimeout(dispatch, early, client, { index, request, done });
    else dispatch(client, { index, request, done });
  }

  function dispatch(client: Client, { index, request, done }: Turn): void {
    const chunks: Buffer[] = [];
    const sentAt = performance.now();
    const finish = (status: string) => {
      latencies[index] = performance.now() - sentAt;
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status !== '200') failures.push(`${status} ${Buffer.concat(chunks).toString()}`);
      else if (keepBodies) bodies.push(Buffer.concat(chunks).toString());
      setImmediate(send, client, done);
    };
    let status = '';
    const { body, authorization } = request;
    const form = ['content-type', 'application/x-www-form-urlencoded'];
    client.dispatch(
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
  await Promise.all(clients.map((client) => new Promise<void>((done) => send(client, done))));
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  await Promise.all(clients.map((client) => client.close()));
  latencies.sort();
  return {
    seconds,
    statuses,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    cpuSeconds: (user + system) / 1e6,
    bodies,
    failures: failures.slice(0, 3),
  };
}

/** Opening connections is not measured. A path that nobody knows is enough for that. */
async function connected(client: Client): Promise<void> {
  const { body } = await client.request({ path: '/bench', method: 'GET' });
  await body.dump();
}

answerCalls({ run });
