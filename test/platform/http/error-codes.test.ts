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

describe('X-SVC-Error', () => {
  it.each([
    ['an OAuth endpoint', '/api/oauth/userinfo', {}, 'invalid_token'],
    ['the session query', '/api/verify/hvf-session/ses_x', {}, 'missing_api_key'],
    ['the start, for programs', '/verify/start', {}, 'invalid_request'],
    ['the start, for browsers', '/verify/start', { accept: 'text/html' }, 'invalid_request'],
    ['an unknown path', '/api/none', {}, 'route_not_found'],
  ])('has the error code for %s', async (_name, path, headers, code) => {
    const answer = await fetch(`${server.publicUrl}${path}`, { headers });
    await answer.text();
    expect(answer.headers.get('x-svc-error')).toBe(code);
  });

  it('is also sent for a malformed HTTP request', async () => {
    expect(await raw('nonsense\r\n\r\n')).toMatch(/\r\nx-svc-error: malformed_http\r\n/);
  });

  it('is absent from a successful answer', async () => {
    const answer = await fetch(`${server.publicUrl}/.well-known/jwks.json`);
    await answer.text();
    expect(answer.headers.has('x-svc-error')).toBe(false);
  });
});
