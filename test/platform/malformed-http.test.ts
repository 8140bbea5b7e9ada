import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiError } from '../../server/platform/errors.ts';
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

/** Checks a whole answer, from its status line to its last byte: by default, for the general format. */
function expectRefusal(
  text: string,
  status: number,
  expected: object = { success: false, error: reasons[status] },
): void {
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
  expect(JSON.parse(body)).toEqual(expected);
}

const get = (...lines: string[]) => `${['GET / HTTP/1.1', ...lines].join('\r\n')}\r\n\r\n`;
const post = (...lines: string[]) => `${['POST / HTTP/1.1', 'Host: a', ...lines].join('\r\n')}\r\n\r\n`;
const manyHeaders = Array.from({ length: 2_100 }, () => 'a:');

describe('an error answer with a header that HTTP cannot carry', () => {
  it.each(['a\nb', '例え', '\u0000'])(
    'is sent without that header (%j), in the format of the contract',
    async (value) => {
      const faulty = createHttpServer({ logger: createLogger('silent'), trustProxy: false });
      faulty.get('/', async () => {
        throw new ApiError('invalid_request', { headers: { 'x-broken': value, 'x-sound': 'yes' } });
      });
      const answer = await faulty.inject('/');
      expect(answer.json()).toMatchObject({ success: false });
      expect(answer.headers).toMatchObject({
        'x-sound': 'yes',
        'x-request-id': expect.stringMatching(/^req_/),
      });
      expect(answer.headers).not.toHaveProperty('x-broken');
    },
  );
});

describe('malformed HTTP', () => {
  it.each([
    [400, 'text that is no request', 'nonsense\r\n\r\n'],
    [400, 'a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    [400, 'an unknown method', 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n'],
    [400, 'the method CONNECT', 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n'],
    [400, 'a method of RTSP', 'ANNOUNCE / RTSP/1.0\r\nHost: a\r\n\r\n'],
    [400, 'another method of RTSP', 'SETUP / RTSP/1.0\r\nHost: a\r\nCSeq: 1\r\n\r\n'],
    [400, 'HTTP version 0.9', 'GET / HTTP/0.9\r\nHost: a\r\n\r\n'],
    [400, 'HTTP version 2.0', 'GET / HTTP/2.0\r\nHost: a\r\n\r\n'],
    [400, 'an unknown HTTP version', 'GET / HTTP/9.9\r\nHost: a\r\n\r\n'],
    [400, 'a header name with a space', get('Host: a', 'X Y: z')],
    [400, 'two Authorization headers', get('Host: a', 'Authorization: Bearer x', 'authorization: Bearer x')],
    [400, 'two Content-Type headers', post('Content-Type: application/json', 'Content-Type: text/plain')],
    [
      400,
      'a transfer coding in HTTP/1.0',
      'POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    [400, 'an unknown transfer coding', `${post('Transfer-Encoding: gzip, chunked')}0\r\n\r\n`],
    [400, 'a repeated transfer coding', `${post('Transfer-Encoding: chunked, chunked')}0\r\n\r\n`],
    [400, 'a space before the colon of a header', get('Host : a')],
    [400, 'a header value with a control character', get('Host: a', 'X: \x01')],
    [400, 'a Content-Length that is no number', get('Host: a', 'Content-Length: x')],
    [400, 'two Content-Length headers', post('Content-Length: 1', 'Content-Length: 2')],
    [
      400,
      'both Content-Length and Transfer-Encoding',
      post('Content-Length: 1', 'Transfer-Encoding: chunked'),
    ],
    [
      400,
      'a chunk without a size',
      `${post('Content-Type: application/json', 'Transfer-Encoding: chunked')}x\r\n`,
    ],
    [400, 'two different Host headers', get('Host: a', 'Host: b')],
    [400, 'two equal Host headers', get('Host: a', 'X: y', 'host: a')],
    [400, 'no Host header', get('X: y')],
    [400, 'a URL in its Host header', get('Host: http://a/')],
    [400, 'a space in the Host', get('Host: a b')],
    [400, 'two names in one Host header', get('Host: a, b')],
    [431, 'a header of 17,000 characters', get('Host: a', `X: ${'x'.repeat(17_000)}`)],
    [
      431,
      'a second Host after the headers that Node.js passes on',
      get('Host: a', ...manyHeaders, 'Host: b'),
    ],
    [431, 'more than 1,000 headers', get('Host: a', ...manyHeaders.slice(0, 1_000))],
    [431, 'a path of 17,000 characters', get('Host: a').replace('/', `/${'x'.repeat(17_000)}`)],
  ])('gets one answer %i, and its connection is closed (%s)', async (status, _, text) => {
    const { received, error } = await send(text);
    expectRefusal(received, status);
    expect(error).toBeUndefined();
  });

  it('gets a page that says what to do if a browser sends cookies of 17,000 characters', async () => {
    const ofBrowser = get('Host: a', 'Accept: text/html,*/*;q=0.8', `Cookie: ${'x'.repeat(17_000)}`);
    const { received } = await send(ofBrowser);
    expect(received).toMatch(/^HTTP\/1.1 431 /);
    expect(received.toLowerCase()).toContain(
      "content-type: text/html; charset=utf-8\r\ncontent-security-policy: default-src 'none'",
    );
    expect(received).toContain('Delete the cookies of this site');
  });

  it('gets one answer 400 even if its sender continues to send', async () => {
    const { received, error } = await send(`nonsense\r\n\r\n${'x'.repeat(1_000_000)}`);
    expectRefusal(received, 400);
    expect(error).toBeUndefined();
  });

  it('gets 408 if it is incomplete when its time limit ends', async () => {
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

  it('gets one answer 400 in the format of its path, on the public and the admin listener', async () => {
    const server = await startTestServer({ env: { SVC_HEALTH_PORT: '0' } });
    const ports = [server.publicUrl, server.adminUrl].map((url) => Number(new URL(url).port));
    for (const at of ports) {
      for (const path of ['/verify/start', '/trpc/status.show', '/nowhere']) {
        const request = `GET ${path} HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`;
        expectRefusal((await send(request, at)).received, 400);
      }
      const inOauthFormat = { error: 'invalid_request', error_description: reasons[400] };
      for (const call of ['GET /api/oauth/userinfo', 'POST /api/oauth/token', 'POST /api/oauth/revoke']) {
        const request = `${call} HTTP/1.1\r\nHost: a\r\nContent-Type: a/b\r\nContent-Type: a/b\r\n\r\n`;
        expectRefusal((await send(request, at)).received, 400, inOauthFormat);
      }
    }
    await server.stop();
  });
});

describe('valid requests that are followed by malformed HTTP on the same connection', () => {
  it('are answered first; then the malformed part gets 400', async () => {
    const before = 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n';
    const answer = send(`${before}nonsense\r\n\r\n`);
    await expect.poll(() => events.listenerCount('go on')).toBe(1);
    events.emit('go on');
    const [first = '', firstBody = '', ...rest] = (await answer).received.split('\r\n\r\n');
    expect(first).toMatch(/^HTTP\/1.1 200 OK/);
    expect(firstBody.startsWith('slow but fine')).toBe(true);
    expectRefusal([firstBody.slice('slow but fine'.length), ...rest].join('\r\n\r\n'), 400);
  });

  it('get one answer if the malformed part is in the body of the last one', async () => {
    const refused = 'POST /refused HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
    const { received } = await send(`${refused}x\r\n`);
    expect(received.match(/HTTP\/1.1 \d+/g)).toHaveLength(1);
  });
});

describe('an unusual but valid request', () => {
  it.each([
    ['HTTP/1.0 and no Host header', 'GET / HTTP/1.0\r\n\r\n'],
    ['1,000 headers', get('Host: a', 'Connection: close', ...manyHeaders.slice(0, 998))],
    ['an empty Host header', get('Host:', 'Connection: close')],
    ['an IPv6 address with a port as Host', get('Host: [::1]:8080', 'Connection: close')],
    ['an unknown value in its Expect header', get('Host: a', 'Expect: the-best', 'Connection: close')],
  ])('is answered with 200 if it has %s', async (_, text) => {
    const { received } = await send(text);
    expect(received).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(received).toMatch(/\r\n\r\nfine$/);
  });
});
