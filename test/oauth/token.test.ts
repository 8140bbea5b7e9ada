import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPartner, post, type TestPartner, tokenForm, visit } from '../harness/partner.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';

let server: TestServer;
let partner: TestPartner;
let url: string;

beforeAll(async () => {
  server = await startTestServer();
  partner = await createPartner(server, { client: { tokenRequestsPerMinute: 100_000 } });
  url = `${server.baseUrl}/api/oauth/token`;
});
afterAll(() => server.stop());

const balance = async () =>
  (await server.admin.wallets.show.query({ partnerId: partner.partnerId, mode: 'test' })).balance;

describe('POST /api/oauth/token', () => {
  it('200: exchanges a code for a bearer token and debits the wallet once', async () => {
    const before = await balance();
    const response = await post(url, tokenForm(partner, await visit(server, partner)));
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toEqual({
      access_token: expect.stringMatching(/^eyJ/),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'age_18_plus identity_verified',
    });
    expect(await balance()).toBe(before - 50);
  });
});
