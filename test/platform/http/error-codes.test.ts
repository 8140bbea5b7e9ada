import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../harness/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

async function raw(request: string): Promise<string> {
  const socket = connect(Number(new URL(server.publicUrl).port), '127.0.0.1');
  socket.end(request);
  let answer = '';
  for await (const chunk of socket.setEncoding('utf8')) answer += String(chunk);
  return answer;
}

describe('the header X-SVC-Error', () => {
  it.each([
    ['invalid_token', 'userinfo, called without a token', '/api/oauth/userinfo', {}],
    ['missing_api_key', 'the session query, called without an API key', '/api/verify/hvf-session/ses_x', {}],
    ['invalid_request', 'a refused /verify/start in JSON', '/verify/start', {}],
    ['invalid_request', 'a refused /verify/start as a page', '/verify/start', { accept: 'text/html' }],
    ['route_not_found', 'an unknown path', '/api/none', {}],
  ])('contains %s in the answer of %s', async (code, _name, path, headers) => {
    const answer = await fetch(`${server.publicUrl}${path}`, { headers });
    await answer.text();
    expect(answer.headers.get('x-svc-error')).toBe(code);
  });

  it('contains malformed_http in the answer to malformed HTTP', async () => {
    expect(await raw('nonsense\r\n\r\n')).toMatch(/\r\nx-svc-error: malformed_http\r\n/);
  });

  it('is absent from a successful answer', async () => {
    const answer = await fetch(`${server.publicUrl}/.well-known/jwks.json`);
    await answer.text();
    expect(answer.headers.has('x-svc-error')).toBe(false);
  });
});
