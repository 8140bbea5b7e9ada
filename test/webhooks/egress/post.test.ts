import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readBytes } from '../../../server/webhooks/egress/answer-text.ts';
import { createResolve } from '../../../server/webhooks/egress/connector.ts';
import { createPost } from '../../../server/webhooks/egress/post.ts';
import { createReceiver, listen } from '../../harness/receiver.ts';
import { certificate, certificateKey } from '../certificate.ts';
import { createNameServer } from '../name-server.ts';

const rules = { localhostAllowed: true, ownPorts: () => [] };
const budget = 500;
/** Node measures timers in whole milliseconds from the start of a loop turn, so one can end up to a millisecond early. */
const soonest = budget - 1;
const request = { keyId: 'key_1', mode: 'test' as const, headers: { 'X-SVC-Event': 'x' }, body: '{"a":1}' };
/** Sends to local receivers with a public name, and treats loopback as the Internet. */
const route = { resolve: async () => ['127.0.0.1'], allowed: () => true };
const post = createPost({ rules, route, budget, ca: certificate });

/** A server that gets each connection without HTTP parsing. */
async function rawServer(serve: (socket: Socket) => void): Promise<number> {
  return listen(createTcpServer((socket) => serve(socket.on('error', () => undefined))));
}

const local = (port: number) => post({ ...request, url: `http://localhost:${port}/` });
const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n';

describe('the time limit of an attempt', () => {
  it('gives an attempt the error timeout if the receiver never answers', async () => {
    const result = await local(await rawServer(() => undefined));
    expect(result).toMatchObject({ error: 'timeout', detail: 'still at: response' });
    expect(result.durationMs).toBeGreaterThanOrEqual(soonest);
  });

  it('ends an attempt with a timeout if the receiver sends headers without end', async () => {
    const port = await rawServer((socket) => {
      socket.write(head);
      const timer = setInterval(() => socket.write('X-More: yes\r\n'), 20);
      socket.once('close', () => clearInterval(timer));
    });
    expect(await local(port)).toMatchObject({ error: 'timeout' });
  });

  it('ends an attempt as delivered a tenth of it after the 2xx if the receiver sends its body too slowly', async () => {
    const port = await rawServer((socket) => {
      socket.write(`${head}Content-Length: 10000\r\n\r\n`);
      const timer = setInterval(() => socket.write('x'), 20);
      socket.once('close', () => clearInterval(timer));
    });
    const result = await local(port);
    expect(result).toMatchObject({ status: 200 });
    expect(result.error).toBeUndefined();
    expect(result.durationMs).toBeLessThan(soonest);
  });

  it('ends an attempt at a receiver that is silent at the TLS handshake', async () => {
    const port = await rawServer(() => undefined);
    const result = await post({ ...request, url: `https://partner.example:${port}/` });
    expect(result).toMatchObject({ error: 'timeout', detail: 'still at: tls', address: `127.0.0.1:${port}` });
  });

  it('gives an attempt the error timeout if the name server does not answer', async () => {
    const server = await createNameServer(() => undefined);
    const slow = createPost({ rules, budget, route: { resolve: createResolve([server]) } });
    const result = await slow({ ...request, url: 'https://partner.example/' });
    expect(result).toMatchObject({ error: 'timeout', detail: 'still at: dns' });
  });
});

describe('the part of a response that is read', () => {
  it('is less than 16 MiB if the body does not end', async () => {
    let written = 0;
    const port = await rawServer((socket) => {
      socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
      const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
      const more = () => {
        while (!socket.destroyed && socket.write(chunk)) written += chunk.length;
      };
      socket.on('drain', more);
      more();
    });
    expect(await local(port)).toMatchObject({ status: 200 });
    expect(written).toBeLessThan(16 * 1024 * 1024);
  });

  it('has a fixed length for a gzip bomb of 200 MiB, and memory grows by less than 64 MiB', async () => {
    const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024, 'x'));
    const server = createTlsServer({ cert: certificate, key: certificateKey }, (_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    );
    const port = await listen(server);
    const before = process.memoryUsage().rss;
    const result = await post({ ...request, url: `https://partner.example:${port}/` });
    expect(result).toMatchObject({ status: 200 });
    expect(result.answer).toHaveLength(readBytes);
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  });

  it('is the beginning of the body, with only printable characters', async () => {
    const server = createTlsServer({ cert: certificate, key: certificateKey }, (_request, response) =>
      response.writeHead(400).end(`no such \u001b[31mevent\u0007\n${'é'.repeat(10_000)}`),
    );
    const result = await post({ ...request, url: `https://partner.example:${await listen(server)}/` });
    expect(result).toMatchObject({ error: 'http', status: 400 });
    expect(result.answer).toMatch(/^no such \uFFFD\[31mevent\uFFFD\né+/);
  });

  it.each(['gzip', 'br', 'deflate', 'x-unknown'])(
    'is empty, and the attempt counts as successful, if the content encoding %s cannot be decoded',
    async (encoding) => {
      const receiver = await createReceiver((_count, _request, response) =>
        response.writeHead(200, { 'content-encoding': encoding }).end('not compressed'),
      );
      expect(await local(receiver.port)).toEqual({
        status: 200,
        address: expect.any(String),
        durationMs: expect.any(Number),
      });
    },
  );
});

describe('a receiver that violates HTTP', () => {
  const long = `${head}Connection: close\r\nContent-Length: 10000000\r\n\r\n${'x'.repeat(200_000)}`;

  it.each([
    [
      'resets the connection during a long body',
      (socket: Socket) => socket.write(long, () => socket.resetAndDestroy()),
    ],
    ['ends the connection during a long body', (socket: Socket) => socket.end(long)],
    [
      'ends the connection instead of sending a body',
      (socket: Socket) => socket.end(`${head}Content-Length: 10\r\n\r\n`),
    ],
    [
      'sends a malformed chunk',
      (socket: Socket) => socket.end(`${head}Transfer-Encoding: chunked\r\n\r\nzz`),
    ],
  ])('makes the attempt succeed if it sends the status 200 and then %s', async (_what, serve) => {
    const port = await rawServer((socket) => socket.once('data', () => serve(socket)));
    const result = await local(port);
    expect(result).toMatchObject({ status: 200 });
    expect(result.error).toBeUndefined();
  });

  it('makes the attempt end with the error http if it sends the status 101, and its connection serves no other', async () => {
    for (const more of ['', 'Upgrade: x\r\nConnection: upgrade\r\n']) {
      let connections = 0;
      const port = await rawServer((socket) => {
        connections += 1;
        socket.on('data', () => socket.write(`HTTP/1.1 101 Switching Protocols\r\n${more}\r\n`));
      });
      for (const attempt of [1, 2]) {
        expect(await local(port)).toMatchObject({ status: 101, error: 'http' });
        expect(connections).toBe(attempt);
      }
    }
  });

  it('is disconnected if it sends interim answers without end', async () => {
    const port = await rawServer((socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 5);
      socket.once('close', () => clearInterval(timer));
    });
    expect(await local(port)).toMatchObject({ error: 'timeout' });
  });

  it.each([
    ['reset', 'the status 100 and nothing more', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['http', 'three null bytes', '\0\0\0'],
  ])('makes the attempt end with the error %s if it sends %s', async (error, _, answer) => {
    const port = await rawServer((socket) => socket.once('data', () => socket.end(answer)));
    const result = await local(port);
    expect(result.status).toBeUndefined();
    expect(result.error).toBe(error);
  });
});

describe('an attempt to POST a webhook', () => {
  it.each([200, 201, 204, 299])('succeeds if the receiver answers with the status %d', async (status) => {
    const receiver = await createReceiver((_count, _request, response) => response.writeHead(status).end());
    const result = await local(receiver.port);
    expect(result).toMatchObject({ status });
    expect(result.error).toBeUndefined();
    expect(receiver.received[0]).toMatchObject({
      body: '{"a":1}',
      headers: { 'x-svc-event': 'x', connection: 'keep-alive' },
    });
  });

  it.each([300, 301, 304, 400, 401, 404, 410, 429, 500, 503])(
    'ends with the error http if the receiver answers with the status %d',
    async (status) => {
      const receiver = await createReceiver((_count, _request, response) => response.writeHead(status).end());
      expect(await local(receiver.port)).toMatchObject({ status, error: 'http' });
    },
  );

  it('ends with the error `refused` if no server listens', async () => {
    const port = await rawServer(() => undefined);
    const post = createPost({
      rules,
      budget,
      route: { resolve: async () => ['127.0.0.3'], allowed: () => true },
    });
    const result = await post({ ...request, url: `https://partner.example:${port}/` });
    expect(result).toMatchObject({ error: 'refused', detail: 'ECONNREFUSED' });
  });

  it('has the error reset if the connection ends without an answer', async () => {
    expect(
      await local(await rawServer((socket) => socket.once('data', () => socket.resetAndDestroy()))),
    ).toMatchObject({
      error: 'reset',
    });
    expect(await local(await rawServer((socket) => socket.once('data', () => socket.end())))).toMatchObject({
      error: 'reset',
    });
  });

  it('has the error http if the answer is not HTTP, or its headers do not end', async () => {
    expect(
      await local(
        await rawServer((socket) => socket.once('data', () => socket.end('220 smtp.example ESMTP\r\n'))),
      ),
    ).toMatchObject({
      error: 'http',
    });
    const port = await rawServer((socket) => socket.write(`${head}X-Long: ${'x'.repeat(100_000)}\r\n\r\n`));
    expect(await local(port)).toMatchObject({ error: 'http' });
  });

  it('has the error tls if the certificate is untrusted, for another name, or missing', async () => {
    const port = await listen(createTlsServer({ cert: certificate, key: certificateKey }));
    const url = `https://partner.example:${port}/`;
    expect(await createPost({ rules, route, budget })({ ...request, url })).toMatchObject({ error: 'tls' });
    const other = `https://other.example:${port}/`;
    expect(await post({ ...request, url: other })).toMatchObject({
      error: 'tls',
      detail: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    const plain = await createReceiver();
    expect(await post({ ...request, url: `https://partner.example:${plain.port}/` })).toMatchObject({
      error: 'tls',
    });
  });

  it('is not made if a header has a line break', async () => {
    const receiver = await createReceiver();
    const url = `http://localhost:${receiver.port}/`;
    for (const value of ['a\r\nX-Other: b', 'a\nb', '\u00e9'])
      expect(await post({ ...request, headers: { 'X-SVC-Event': value }, url })).toMatchObject({
        detail: 'the header X-SVC-Event has a character that it may not have',
      });
    expect(receiver.received).toHaveLength(0);
  });

  it('has the error dns if the name does not exist', async () => {
    const server = await createNameServer(() => []);
    const post = createPost({ rules, budget, route: { resolve: createResolve([server]) } });
    expect(await post({ ...request, url: 'https://partner.example/' })).toMatchObject({ error: 'dns' });
  });
});
