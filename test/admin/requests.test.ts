import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../harness/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

it('an answer of the public listener can be asked about by its request id, and is counted', async () => {
  const body = new URLSearchParams({ grant_type: 'authorization_code', client_id: 'cli_nobody' });
  const answer = await fetch(`${server.baseUrl}/api/oauth/token`, { method: 'POST', body });
  const requestId = answer.headers.get('x-request-id') ?? '';
  const story = () => server.admin.requests.show.query({ requestId }).catch(() => undefined);
  await expect.poll(story, { timeout: 10_000 }).toMatchObject({
    request: { route: '/api/oauth/token', status: 400, error: 'invalid_request', clientId: 'cli_nobody' },
  });
});
