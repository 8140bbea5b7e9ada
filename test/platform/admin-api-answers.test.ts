import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPartner, type TestPartner } from '../harness/partner.ts';
import { adminToken, startTestServer, type TestServer } from '../harness/server.ts';

let server: TestServer;
let partner: TestPartner;
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_PORTAL: 'on' } });
  partner = await createPartner(server);
});
afterAll(() => server.stop());

const bearer = { authorization: `Bearer ${adminToken}` };
const mounts = {
  'the admin API': () => `${server.adminUrl}/trpc`,
  'dry runs': () => `${server.adminUrl}/trpc/dry-run`,
  'the admin API for members': () => `${server.publicUrl}/portal/trpc`,
};

describe.each(Object.entries(mounts))('an answer of %s', (name, base) => {
  it.each(['HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])(
    'refuses %s with 405 and the allowed methods',
    async (method) => {
      const response = await fetch(`${base()}/partners.show`, { method });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST']);
    },
  );

  it.each([{}, { 'content-type': 'text/plain' }, { 'content-type': 'multipart/form-data; boundary=x' }])(
    'is a refusal, and no fault of the server, for a body with %o',
    async (headers) => {
      const body = headers['content-type'] ? 'x' : null;
      const response = await fetch(`${base()}/partners.update`, { method: 'POST', headers, body });
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.status).toBeLessThan(500);
      const { error } = (await response.json()) as { error: { data: { error: string } } };
      expect(response.headers.get('x-svc-error')).toBe(error.data.error);
    },
  );

  it('is in no cache', async () => {
    const response = await fetch(
      `${base()}/operators.whoami`,
      name === 'dry runs' ? {} : { headers: bearer },
    );
    expect(response.headers.get('cache-control')).toContain('no-store');
  });
});

it('a change that is called by GET gets 405 with the right method, and a query by POST too', async () => {
  const call = async (method: string, procedure: string) => {
    const json = { 'content-type': 'application/json' };
    const headers = { ...bearer, ...(method === 'POST' ? json : {}) };
    const body = method === 'POST' ? '{}' : null;
    const response = await fetch(`${server.adminUrl}/trpc/${procedure}`, { method, headers, body });
    await response.arrayBuffer();
    return [response.status, response.headers.get('allow'), response.headers.get('x-svc-error')];
  };
  expect(await call('GET', 'partners.create')).toEqual([405, 'POST', 'method_not_allowed']);
  expect(await call('POST', 'partners.list')).toEqual([405, 'GET', 'method_not_allowed']);
});

it.each([
  [() => server.admin.partners.list.query({ limit: 0 }), /^limit: must be at least 1$/],
  [() => server.admin.partners.list.query({ limit: 100_000 }), /^limit: must be at most \d+$/],
  [() => server.admin.partners.create.mutate({} as never), /^name: is required$/],
  [() => server.admin.partners.create.mutate({ name: 1 } as never), /^name: must be of type string$/],
  [() => server.admin.partners.create.mutate(undefined as never), /^The input is required$/],
  [() => server.admin.partners.create.mutate([] as never), /^The input must be of type object$/],
])('a fault of an input is an instruction (%#)', async (call, text) => {
  await expect(call()).rejects.toMatchObject({ message: expect.stringMatching(text) });
});

it.each([
  ['GET', 'partners.list?input=%7B'],
  ['POST', 'partners.create'],
])('an input of %s that is no JSON is called so', async (method, call) => {
  const headers = { ...bearer, 'content-type': 'application/json' };
  const body = method === 'POST' ? '{' : null;
  const response = await fetch(`${server.adminUrl}/trpc/${call}`, { method, headers, body });
  expect(await response.json()).toMatchObject({ error: { message: 'The input is not valid JSON' } });
});

it('an amount that is given twice moves no money', async () => {
  const wallet = { partnerId: partner.partnerId, mode: 'test' as const };
  const before = await server.admin.wallets.show.query(wallet);
  const response = await fetch(`${server.adminUrl}/trpc/wallets.fund`, {
    method: 'POST',
    headers: { ...bearer, 'content-type': 'application/json' },
    body: `{"partnerId":"${partner.partnerId}","mode":"test","amount":5000,"reference":"a","amount":900000}`,
  });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain('amount must be given once');
  expect(await server.admin.wallets.show.query(wallet)).toEqual(before);
});
