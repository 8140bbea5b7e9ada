import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../harness/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_PORTAL: 'on' } });
});
afterAll(() => server.stop());

/** Sends a request line and a body as they are. @returns the status, the headers and the body of the answer */
async function send(line: string, body: string | Buffer = '', headers: Record<string, string> = {}) {
  const socket = connect(Number(new URL(server.publicUrl).port), '127.0.0.1');
  const fields = {
    host: 'localhost',
    connection: 'close',
    'content-length': Buffer.byteLength(body),
    ...headers,
  };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${line} HTTP/1.1\r\n${head.join('')}\r\n`);
  socket.write(body);
  const [received = '', content = ''] = (await text(socket)).split(/\r\n\r\n(.*)/s);
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(received)?.[1]?.trim();
  return { status: Number(received.split(' ')[1]), header, content };
}

const json = { 'content-type': 'application/json' };

describe('the body of a request that no route reads', () => {
  it.each([
    ['malformed JSON', '{', json],
    ['a type that no route takes', 'x', { 'content-type': 'text/plain' }],
    ['compression', gzipSync('{}'), { ...json, 'content-encoding': 'gzip' }],
    ['more than the largest body', ' '.repeat(100_000), json],
  ])('does not decide the answer: %s', async (_what, body, headers) => {
    const unknown = await send('POST /api/oauth/nothing', body, headers);
    expect([unknown.status, unknown.header('cache-control')]).toEqual([404, 'no-store']);
    expect(JSON.parse(unknown.content)).toMatchObject({ error: 'invalid_request' });
    const wrong = await send('DELETE /api/oauth/token', body, headers);
    expect([wrong.status, wrong.header('allow')]).toEqual([405, 'POST']);
    expect((await send('POST /healthz', body, headers)).status).toBe(405);
  });
});

describe('a path that another method has gets 405 with the allowed methods, in the format of its scope', () => {
  it.each<[line: string, allow: string, type: RegExp]>([
    ['PUT /verify/you', 'GET, HEAD', /json/],
    ['POST /verify/callback/x', 'GET', /json/],
    ['GET /verify/you/sign-in', 'POST', /json/],
    ['DELETE /verify/session/ses_1', 'GET, POST', /json/],
    ['DELETE /portal/clients', 'GET, POST', /html/],
    ['GET /portal/sign-out', 'POST', /html/],
    ['PUT /portal/device/token', 'POST', /json/],
    ['GET /portal/device/authorization', 'POST', /json/],
    ['HEAD /portal/device/token', 'POST', /json/],
    ['PUT /portal/trpc/partners.show', 'GET, POST', /json/],
    ['DELETE /api/checkbox/resolve', 'POST', /json/],
  ])('%s', async (line, allow, type) => {
    const { status, header } = await send(line);
    expect([status, header('allow')]).toEqual([405, allow]);
    expect(header('content-type')).toMatch(type);
  });
});

it.each([
  ...['GET /verify/x/start', 'GET /verify/assets/session/x', 'GET /portal/nothing', 'PUT /portal/device/x'],
])('a path that no method has gets 404: %s', async (line) => {
  const { status, header } = await send(line);
  expect([status, header('allow')]).toEqual([404, undefined]);
});

describe('an endpoint by which programs sign in', () => {
  it.each([
    ['GET /portal/device/authorization', 405],
    ['GET /portal/device/token', 405],
    ['PUT /portal/device/token', 405],
    ['GET /portal/device/nothing', 404],
  ])(
    'refuses a wrong method or path in the format of RFC 6749 5.2, whatever is accepted: %s',
    async (line, status) => {
      for (const accept of ['*/*', 'text/html', 'application/json']) {
        const answer = await send(line, '', { accept });
        expect([answer.status, answer.header('content-type'), answer.header('cache-control')]).toEqual([
          status,
          'application/json; charset=utf-8',
          'no-store',
        ]);
        const { error, ...rest } = JSON.parse(answer.content);
        expect([error, Object.keys(rest)]).toEqual(['invalid_request', ['error_description']]);
      }
    },
  );
});

describe('a request line with a whole address', () => {
  it('is answered as one with a path', async () => {
    const wrong = await send('GET http://localhost/api/oauth/token');
    expect([wrong.status, wrong.header('allow')]).toEqual([405, 'POST']);
    expect(JSON.parse(wrong.content)).toMatchObject({ error: 'invalid_request' });
    expect((await send('GET http://localhost/healthz')).status).toBe(200);
    expect((await send('GET http://localhost')).content).toContain('<h1>');
    const portal = await send('GET http://localhost/portal/clients');
    expect(portal.header('location')).toBe('/portal/sign-in?next=%2Fclients');
  });
});

it('a query may hold further question marks', async () => {
  const address = '/verify/start?redirect_uri=http://localhost/cb?x=1&ui_locales=de';
  const { content } = await send(`GET ${address}`, '', { accept: 'text/html' });
  expect(content).toContain('lang="de"');
  expect(content).toContain('?redirect_uri=http://localhost/cb?x=1&amp;ui_locales=de&amp;lang=fr');
});
