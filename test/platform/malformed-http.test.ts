import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptForms } from '../../server/platform/http/parameters.ts';
import { createHttpServer, type HttpServer } from '../../server/platform/http/server.ts';
import { createLogger } from '../../server/platform/telemetry/logging.ts';
import { startTestServer } from '../harness/server.ts';

let app: HttpServer;
let port: number;
const events = new EventEmitter();

async function listen(server: HttpServer): Promise<number> {
  await server.listen({ host: '127.0.0.1', port: 0 });
  return (server.server.address() as { port: number }).port;
}

beforeAll(async () => {
  app = createHttpServer({ logger: createLogger('silent'), trustProxy: false });
  acceptForms(app);
  app.get('/', async () => 'fine');
  app.get('/slow', async () => {
    await once(events, 'go on');
    return 'slow but fine';
  });
  app.post('/', async () => 'fine');
  app.post(
    '/refused',
    { onRequest: async (_request, reply) => reply.status(401).send('no') },
    async () => '',
  );
  port = await listen(app);
});
afterAll(() => app.close());

/** Sends text to a port. @returns the received data until the connection ended, and the code of its error */
async function send(text: string, at = port): Promise<{ received: string; error: string | undefined }> {
  const socket = connect({ port: at, host: '127.0.0.1' });
  let error: string | undefined;
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', ({ code }: NodeJS.ErrnoException) => {
    error = code;
  });
  socket.write(text);
  await new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  return { received: Buffer.concat(chunks).toString(), error };
}

const reasons: Record<number, string> = {
  400: 'The request is not valid HTTP',
  408: 'The request did not arrive in time',
  431: 'The headers of the request are larger than 16 KiB or more than 1000',
};

/** Checks a whole answer, from its status line to its last byte, for the general format. */
function expectRefusal(text: string, status: number): void {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const [line, ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(lines.map((one) => one.toLowerCase().split(': ', 2)));
  expect(line).toMatch(new RegExp(`^HTTP/1.1 ${status} [A-Z]`));
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'x-content-type-options': 'nosniff',
    connection: 'close',
  });
  expect(headers['date']).toMatch(/ gmt$/);
  expect(headers['x-request-id']).toMatch(/^req_[0-9a-z]{22}$/);
  expect(JSON.parse(body)).toEqual({ success: false, error: reasons[status] });
}

const get = (...lines: string[]) => `${['GET / HTTP/1.1', ...lines].join('\r\n')}\r\n\r\n`;
const post = (...lines: string[]) => `${['POST / HTTP/1.1', 'Host: a', ...lines].join('\r\n')}\r\n\r\n`;
const manyHeaders = Array.from({ length: 2_100 }, () => 'a:');

describe('malformed HTTP', () => {
  it.each([
    ['text that is no request', 400, 'nonsense\r\n\r\n'],
    ['another protocol', 400, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['an unknown method', 400, 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['CONNECT', 400, 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n'],
    ['an unknown version', 400, 'GET / HTTP/9.9\r\nHost: a\r\n\r\n'],
    ['a name of a header with a space', 400, get('Host: a', 'X Y: z')],
    ['a space before the colon', 400, get('Host : a')],
    ['a value with a control character', 400, get('Host: a', 'X: \x01')],
    ['a Content-Length that is no number', 400, get('Host: a', 'Content-Length: x')],
    ['two lengths', 400, post('Content-Length: 1', 'Content-Length: 2')],
    ['a length and chunks', 400, post('Content-Length: 1', 'Transfer-Encoding: chunked')],
    [
      'a chunk without a size',
      400,
      `${post('Content-Type: application/json', 'Transfer-Encoding: chunked')}x\r\n`,
    ],
    ['two Host lines', 400, get('Host: a', 'Host: b')],
    ['two Host lines that agree', 400, get('Host: a', 'X: y', 'host: a')],
    ['no Host line', 400, get('X: y')],
    ['a Host that is an address', 400, get('Host: http://a/')],
    ['a Host with a space', 400, get('Host: a b')],
    ['a Host with two names', 400, get('Host: a, b')],
    ['a long header', 431, get('Host: a', `X: ${'x'.repeat(17_000)}`)],
    ['more headers than Node.js shows us', 431, get('Host: a', ...manyHeaders, 'Host: b')],
    ['more than 1,000 headers', 431, get('Host: a', ...manyHeaders.slice(0, 1_000))],
    ['a long path', 431, get('Host: a').replace('/', `/${'x'.repeat(17_000)}`)],
  ])(
    'such as %s is answered once, with %i in the general error format, and the connection is closed',
    async (_, status, text) => {
      const { received, error } = await send(text);
      expectRefusal(received, status);
      expect(error).toBeUndefined();
    },
  );

  it('gets one answer even if its sender continues to send', async () => {
    const { received, error } = await send(`nonsense\r\n\r\n${'x'.repeat(1_000_000)}`);
    expectRefusal(received, 400);
    expect(error).toBeUndefined();
  });

  it('gets 408 if it is incomplete at its time limit', async () => {
    const arrival = { headers: 200, request: 400, check: 50 };
    const hurried = createHttpServer({ logger: createLogger('silent'), trustProxy: false, arrival });
    hurried.post('/', async () => 'fine');
    const at = await listen(hurried);
    const unfinished = [
      'POST / HTTP/1.1\r\nHost: a\r\nX: ',
      `${post('Content-Type: application/json', 'Content-Length: 9')}{`,
    ];
    for (const text of unfinished) expectRefusal((await send(text, at)).received, 408);
    await hurried.close();
  });

  it('gets one answer on every path and listener of the service', async () => {
    const server = await startTestServer({ env: { SVC_HEALTH_PORT: '0' } });
    const ports = [server.publicUrl, server.adminUrl].map((url) => Number(new URL(url).port));
    for (const at of ports) {
      for (const path of ['/api/oauth/userinfo', '/verify/start', '/trpc/status.show', '/nowhere']) {
        const request = `GET ${path} HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`;
        expectRefusal((await send(request, at)).received, 400);
      }
    }
    await server.stop();
  });
});

describe('requests before a malformed one on the same connection', () => {
  it('are answered in order, before the answer 400 to the malformed one', async () => {
    const before = 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n';
    const answer = send(`${before}nonsense\r\n\r\n`);
    await expect.poll(() => events.listenerCount('go on')).toBe(1);
    events.emit('go on');
    const [first = '', firstBody = '', ...rest] = (await answer).received.split('\r\n\r\n');
    expect(first).toMatch(/^HTTP\/1.1 200 OK/);
    expect(firstBody.startsWith('slow but fine')).toBe(true);
    expectRefusal([firstBody.slice('slow but fine'.length), ...rest].join('\r\n\r\n'), 400);
  });

  it('are answered once if the malformed part is in the body of the last one', async () => {
    const refused = 'POST /refused HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
    const { received } = await send(`${refused}x\r\n`);
    expect(received.match(/HTTP\/1.1 \d+/g)).toHaveLength(1);
  });
});

describe('an unusual but valid request', () => {
  it.each([
    ['HTTP/1.0 without a Host line', 'GET / HTTP/1.0\r\n\r\n'],
    ['1,000 headers', get('Host: a', 'Connection: close', ...manyHeaders.slice(0, 998))],
    ['an empty Host line', get('Host:', 'Connection: close')],
    ['a Host that is an address of IPv6 with a port', get('Host: [::1]:8080', 'Connection: close')],
    ['an expectation that is not known', get('Host: a', 'Expect: the-best', 'Connection: close')],
  ])('is answered with 200 if it has %s', async (_, text) => {
    const { received } = await send(text);
    expect(received).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(received).toMatch(/\r\n\r\nfine$/);
  });
});
