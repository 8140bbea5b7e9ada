import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createPost } from '../../../server/webhooks/egress/post.ts';
import { listen } from '../../harness/receiver.ts';
import { within } from '../../harness/time-limits.ts';
import { certificate, certificateKey } from '../certificate.ts';

const rules = { localhostAllowed: true, ownPorts: () => [] };
const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const request = { keyId: 'key_1', mode: 'test' as const, headers: { 'X-SVC-Event': 'x' }, body: '{"a":1}' };

/** A receiver that counts its connections and requests. */
async function countingReceiver(answer: (n: number, socket: Socket) => string = () => 'ok', secure = false) {
  const seen = { connections: 0, requests: 0, sockets: [] as Socket[] };
  const serve: Parameters<typeof createServer>[1] = (incoming, outgoing) => {
    seen.requests += 1;
    incoming.resume();
    outgoing.end(answer(seen.requests, incoming.socket));
  };
  const server = secure
    ? createTlsServer({ key: certificateKey, cert: certificate }, serve)
    : createServer(serve);
  server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => {
    seen.connections += 1;
    seen.sockets.push(socket);
  });
  return { port: await listen(server), seen };
}

describe('a connection to an endpoint', () => {
  it('serves the next requests of the same key, so that only the first one makes a TLS handshake', async () => {
    const { port, seen } = await countingReceiver(undefined, true);
    const route = { resolve: async () => ['127.0.0.1'], allowed: () => true };
    const post = createPost({ rules, route, ca: certificate });
    for (let n = 0; n < 3; n += 1) {
      const result = await post({ ...request, url: `https://partner.example:${port}/${n}` });
      expect(result).toMatchObject({ status: 200, address: `127.0.0.1:${port}` });
    }
    expect(seen).toMatchObject({ connections: 1, requests: 3 });
  });

  it.each([
    ['another key', { keyId: 'key_2' }],
    ['another mode', { mode: 'live' as const }],
  ])('serves no request of %s', async (_what, change) => {
    const { port, seen } = await countingReceiver(undefined, true);
    const route = { resolve: async () => ['127.0.0.1'], allowed: () => true };
    const post = createPost({ rules, route, ca: certificate });
    const url = `https://partner.example:${port}/`;
    await post({ ...request, url });
    expect(await post({ ...request, ...change, url })).toMatchObject({ status: 200 });
    expect(seen.connections).toBe(2);
  });

  it('is not used if the name of the host now has other addresses, and a forbidden one refuses the request', async () => {
    const { port, seen } = await countingReceiver(undefined, true);
    let addresses = ['127.0.0.1'];
    const allowed = (address: string) => address.startsWith('127.0.0.');
    const post = createPost({ rules, route: { resolve: async () => addresses, allowed }, ca: certificate });
    const url = `https://partner.example:${port}/`;
    await post({ ...request, url });
    addresses = ['127.0.0.1', '127.0.0.2'];
    expect(await post({ ...request, url })).toMatchObject({ status: 200 });
    expect(seen.connections).toBe(2);
    addresses = ['127.0.0.1', '10.0.0.1'];
    expect(await post({ ...request, url })).toMatchObject({ error: 'blocked_address' });
    expect(seen.requests).toBe(2);
  });

  it('is closed if no request follows in time', async () => {
    const { port, seen } = await countingReceiver();
    const post = createPost({ rules, kept: 20 });
    await post({ ...request, url: `http://localhost:${port}/` });
    const [socket] = seen.sockets;
    if (socket?.readyState === 'open') await once(socket, 'end');
    expect(socket?.readableEnded).toBe(true);
  });

  it('is replaced by a new one if the receiver has closed it, and the attempt succeeds', async () => {
    const { port, seen } = await countingReceiver();
    const post = createPost({ rules });
    const url = `http://localhost:${port}/`;
    await post({ ...request, url });
    // The reset and the next request cross: the sender does not know of it yet.
    seen.sockets[0]?.resetAndDestroy();
    expect(await post({ ...request, url })).toMatchObject({ status: 200 });
    expect(seen).toMatchObject({ connections: 2, requests: 2 });
  });

  it('is closed by a receiver that reads the second request and ends: the attempt is made once more, and then fails', async () => {
    let connections = 0;
    const port = await listen(
      createTcpServer((socket) => {
        connections += 1;
        let requests = 0;
        socket.on('error', () => undefined);
        socket.on('data', () => {
          requests += 1;
          if (requests === 1 && connections === 1)
            socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
          else socket.destroy();
        });
      }),
    );
    const post = createPost({ rules });
    const url = `http://localhost:${port}/`;
    expect(await post({ ...request, url })).toMatchObject({ status: 200 });
    expect(await post({ ...request, url })).toMatchObject({ error: 'reset' });
    expect(connections).toBe(2);
  });

  it('is not tried again if the receiver closes it within its answer', async () => {
    let connections = 0;
    const answers = [ok, 'HTTP/1.1 2'];
    const port = await listen(
      createTcpServer((socket) => {
        connections += 1;
        socket.on('error', () => undefined);
        socket.on('data', () => {
          const answer = answers.shift() ?? '';
          socket.write(answer);
          if (answer !== ok) socket.end();
        });
      }),
    );
    const post = createPost({ rules });
    const url = `http://localhost:${port}/`;
    expect(await post({ ...request, url })).toMatchObject({ status: 200 });
    expect(await post({ ...request, url })).toMatchObject({ error: 'reset', detail: 'ECONNRESET' });
    expect(connections).toBe(1);
  });

  it('is not tried again if the receiver closes it later than a tenth of the time limit after a request', async () => {
    const budget = 500;
    const requests: number[] = [];
    const port = await listen(
      createTcpServer((socket) => {
        socket.on('error', () => undefined);
        socket.on('data', () => {
          requests.push(performance.now());
          if (requests.length === 1) socket.write(ok);
          else setTimeout(() => socket.destroy(), budget / 5);
        });
      }),
    );
    const post = createPost({ rules, budget });
    const url = `http://localhost:${port}/`;
    expect(await post({ ...request, url })).toMatchObject({ status: 200 });
    expect(await post({ ...request, url })).toMatchObject({ error: 'reset' });
    expect(requests).toHaveLength(2);
  });

  it('is not tried again if the time limit ends soon after the request', async () => {
    const budget = 100;
    const { port, seen } = await countingReceiver(undefined, true);
    let isSlow = false;
    const resolve = async () => {
      // No timer runs meanwhile, so the request is sent before the time limit ends it.
      for (const started = performance.now(); isSlow && performance.now() < started + budget; );
      return ['127.0.0.1'];
    };
    const post = createPost({ rules, route: { resolve, allowed: () => true }, ca: certificate, budget });
    const url = `https://partner.example:${port}/`;
    while ((await post({ ...request, url })).error);
    isSlow = true;
    const { connections } = seen;
    const result = await post({ ...request, url });
    expect(result).toMatchObject({ error: 'timeout', detail: 'still at: response' });
    expect(seen.connections).toBe(connections);
  });

  it('is closed by bytes that arrive before the next request, so that they do not acknowledge it', async () => {
    const connections: Socket[] = [];
    const port = await listen(
      createTcpServer((socket) => {
        connections.push(socket);
        const refused = 'HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n';
        const answers = connections.length === 1 ? [ok, `${ok.slice(12)}${refused}`] : [refused];
        socket.on('error', () => undefined);
        socket.on('data', () => socket.write(answers.shift() ?? ''));
      }),
    );
    const post = createPost({ rules });
    const url = `http://localhost:${port}/`;
    expect(await post({ ...request, url })).toMatchObject({ status: 200 });
    const [first] = connections;
    if (!first) throw new Error('no connection was made');
    // A second answer in two parts: the first one arrives while the connection is idle, the other one after the next request.
    first.write(ok.slice(0, 12));
    await Promise.race([once(first, 'close'), sleep(within(1_000))]);
    expect(await post({ ...request, url })).toMatchObject({ status: 500, error: 'http' });
  });

  it.each([
    [
      'the receiver says Connection: close',
      'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok',
    ],
    ['the answer has no length', 'HTTP/1.0 200 OK\r\n\r\nok'],
    [
      'the body is longer than what is read',
      `HTTP/1.1 200 OK\r\nContent-Length: 400000\r\n\r\n${'x'.repeat(40_000)}`,
    ],
    ['the head is not HTTP', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok'],
  ])('serves no further request if %s', async (_why, answer) => {
    let connections = 0;
    const closed: Promise<unknown>[] = [];
    const port = await listen(
      createTcpServer((socket) => {
        connections += 1;
        closed.push(once(socket, 'close').catch(() => undefined));
        socket.on('error', () => undefined);
        socket.once('data', () => {
          socket.write(answer);
          if (!answer.includes('Content-Length')) socket.end();
        });
      }),
    );
    const post = createPost({ rules });
    const url = `http://localhost:${port}/`;
    expect(await post({ ...request, url })).toMatchObject({ status: 200 });
    await closed[0];
    expect(await post({ ...request, url })).toMatchObject({ status: 200 });
    expect(connections).toBe(2);
  });
});
