import { afterAll, beforeAll, expect, it } from 'vitest';
import { redirectUri } from '../../harness/partner.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { newStart, startUrl } from '../../journey/pkce.ts';
import { createShop } from './shop.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

it('a start of a storefront client answers 302 while one of its integrations is enabled, and 400 after all are disabled', async () => {
  const { partnerId, clientId, integrationId } = await createShop(server);
  const neighbour = await createShop(server);
  const start = async (of: string) => {
    const { codeChallenge, state } = newStart();
    const { baseUrl } = server;
    const scope = 'age_18_plus';
    const url = startUrl({ baseUrl, clientId: of, redirectUri, scope, state, codeChallenge });
    const answer = await fetch(url, { redirect: 'manual' });
    return [answer.status, answer.status === 400 ? await answer.json() : undefined];
  };
  const { id: second } = await server.admin.integrations.create.mutate({
    partnerId,
    clientId,
    shops: ['other.example'],
  });
  expect((await start(clientId))[0]).toBe(302);
  await server.admin.integrations.disable.mutate({ integrationId });
  expect((await start(clientId))[0]).toBe(302);
  await server.admin.integrations.disable.mutate({ integrationId: second });
  expect(await start(clientId)).toEqual([
    400,
    { success: false, error: 'client_id: this storefront client has no integration' },
  ]);
  expect((await start(neighbour.clientId))[0]).toBe(302);
});
