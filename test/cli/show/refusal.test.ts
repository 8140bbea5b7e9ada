import { beforeAll, describe, expect, it, vi } from 'vitest';
import { loaders } from '../../../cli/show/loaders.ts';
import { call, createShop, fields, sign } from '../../api/storefront/shop.ts';
import { completeSession } from '../../harness/completed-session.ts';
import { createPartner, exchangeCode, redirectUri, type TestPartner } from '../../harness/partner.ts';
import { adminToken, startTestServer, type TestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';
import { newStart, startUrl } from '../../journey/pkce.ts';
import { commandLine } from '../svcadmin.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  return server.stop;
});

const requestIdOf = ({ headers }: { headers: Headers }) => headers.get('x-request-id') ?? '';

/** Shows the request of an answer, when the log of requests has it. */
const show = (answer: { headers: Headers }) =>
  vi.waitFor(() => loaders.request(server.admin, requestIdOf(answer), {}), within(20_000));

async function exchange(partner: TestPartner) {
  const { codeVerifier } = newStart();
  return exchangeCode(server, partner, { code: `svc_code_${'0'.repeat(60)}`, codeVerifier });
}

function start({ clientId }: TestPartner) {
  const scope = 'age_18_plus';
  return fetch(startUrl({ baseUrl: server.baseUrl, clientId, redirectUri, scope, ...newStart() }));
}

const query = ({ apiKey }: TestPartner) =>
  fetch(`${server.baseUrl}/api/verify/hvf-session/ses_${'0'.repeat(22)}`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });

const since = /since \d{4}-\d\d-\d\d/;

describe('svcadmin show REQUEST', () => {
  it.each([
    ['suspended', (partnerId: string) => server.admin.partners.suspend.mutate({ partnerId })],
    ['closed', (partnerId: string) => server.admin.partners.close.mutate({ partnerId, reason: 'left' })],
  ] as const)('names a %s partner that refused an exchange, a start and a query', async (status, turnOff) => {
    const partner = await createPartner(server, { name: 'Odeon' });
    const { partnerId } = partner;
    await turnOff(partnerId);
    for (const send of [exchange, start, query]) {
      const { lines = [], next, related } = await show(await send(partner));
      expect(lines).toEqual([expect.stringContaining(`partner Odeon (${partnerId}) is ${status} since `)]);
      expect(next[0]).toBe(`partners activate ${partnerId}`);
      expect(related[0]).toMatchObject({
        kind: 'partner',
        id: partnerId,
        note: expect.stringMatching(since),
      });
    }
  });

  it('names a suspended partner that was closed after the request', async () => {
    const partner = await createPartner(server);
    const { partnerId } = partner;
    await server.admin.partners.suspend.mutate({ partnerId });
    const answer = await exchange(partner);
    await show(answer);
    await server.admin.partners.close.mutate({ partnerId, reason: 'left' });
    const { lines } = await show(answer);
    expect(lines).toEqual([expect.stringContaining(`(${partnerId}) is closed since `)]);
  });

  it('names a disabled client that refused an exchange and a start', async () => {
    const partner = await createPartner(server);
    const { clientId } = partner;
    await server.admin.clients.disable.mutate({ clientId });
    for (const send of [exchange, start]) {
      const { lines = [], next } = await show(await send(partner));
      expect(lines).toEqual([expect.stringContaining(`client Box office (${clientId}) is disabled since `)]);
      expect(next[0]).toBe(`clients enable ${clientId}`);
    }
  });

  it('names a revoked key that refused an exchange, a start and a query', async () => {
    const partner = await createPartner(server);
    const { keyId, clientId, partnerId } = partner;
    await server.admin.keys.revoke.mutate({ keyId });
    const line = expect.stringMatching(new RegExp(`API key test ….{4} \\(${keyId}\\) is revoked since `));
    for (const send of [exchange, start]) {
      const { lines, next } = await show(await send(partner));
      expect(lines).toEqual([line]);
      expect(next[0]).toBe(`clients update ${clientId} --key KEY`);
    }
    const { lines, next } = await show(await query(partner));
    expect(lines).toEqual([line]);
    expect(next[0]).toBe(`keys create --partner ${partnerId} --mode test`);
  });

  it('names a disabled integration that refused a storefront exchange', async () => {
    const shop = await createShop(server);
    const { integrationId, clientId } = shop;
    await server.admin.integrations.disable.mutate({ integrationId });
    const body = JSON.stringify(fields('svc_code_0'));
    const { lines = [], next } = await show(await call(server, body, sign(shop, body, Date.now())));
    expect(lines).toEqual([expect.stringContaining(`(${integrationId}) is disabled since `)]);
    expect(next[0]).toContain(`--client ${clientId} --shop `);
  });

  it('names a disabled client that refused a checkbox call', async () => {
    const partner = await createPartner(server);
    const { partnerId, clientId, apiKey } = partner;
    await exchangeCode(server, partner, await completeSession(server, partner));
    const [enrollment] = await server.admin.enrollments.list.query({ partnerId });
    await server.admin.clients.disable.mutate({ clientId });
    const answer = await fetch(`${server.baseUrl}/api/checkbox/resolve`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'idempotency-key': 'once',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ enrollment_id: enrollment?.id, claims: ['age_18_plus'] }),
    });
    expect(answer.status).toBe(403);
    const { lines = [] } = await show(answer);
    expect(lines).toEqual([expect.stringContaining(`(${clientId}) is disabled since `)]);
  });

  it('names no record of another partner than that of the request', async () => {
    const [partner, other] = await Promise.all([createPartner(server), createPartner(server)]);
    await server.admin.clients.disable.mutate({ clientId: other.clientId });
    const answer = await exchange(other);
    expect((await show(answer)).lines).toHaveLength(1);
    const _id = requestIdOf(answer);
    await server.db
      .collection<{ _id: string }>('requestLog')
      .updateOne({ _id }, { $set: { partnerId: partner.partnerId } });
    const { inactive } = await server.admin.requests.show.query({ requestId: _id });
    expect(inactive).toEqual([]);
  });

  it('says that a status was mended, and names no record that was switched off after the request', async () => {
    const partner = await createPartner(server);
    const { partnerId, clientId } = partner;
    await server.admin.clients.disable.mutate({ clientId });
    const answer = await exchange(partner);
    await show(answer);
    await server.admin.clients.enable.mutate({ clientId });
    await server.admin.partners.suspend.mutate({ partnerId });
    const { lines, next } = await show(answer);
    expect(lines).toEqual([expect.stringContaining('has been mended since')]);
    expect(next[0]).toBe(`audit-log list --target ${clientId}`);
  });
});

describe('svcadmin request', () => {
  it('names the record that refused the request, with its status and the next command', async () => {
    const partner = await createPartner(server);
    const { clientId } = partner;
    await server.admin.clients.disable.mutate({ clientId });
    const requestId = requestIdOf(await exchange(partner));
    await vi.waitFor(() => server.admin.requests.show.query({ requestId }), within(20_000));
    const svcadmin = await commandLine(server.adminUrl, adminToken);
    const { stdout, stderr } = await svcadmin.run(['request', requestId]);
    expect(stdout).toContain(`Refused because the client Box office (${clientId}) is disabled since `);
    expect(stderr).toContain(`Next: svcadmin clients enable ${clientId}`);
    expect(await svcadmin.json('request', requestId)).toMatchObject({
      inactive: [{ kind: 'client', id: clientId, status: 'disabled', next: `clients enable ${clientId}` }],
    });
  });
});

describe('svcadmin show of a client, an API key or an integration', () => {
  it('says what stops it although it is active, and which command helps; nothing stops it before', async () => {
    const shop = await createShop(server);
    const { clientId, integrationId, partnerId } = shop;
    const { keyId } = await server.admin.clients.show.query({ clientId });
    const shown = async () => ({
      client: await loaders.client(server.admin, clientId, {}),
      integration: await loaders.integration(server.admin, integrationId, {}),
      key: await loaders.apiKey(server.admin, keyId, {}),
    });
    for (const { lines } of Object.values(await shown())) expect(lines).toEqual([]);
    await server.admin.keys.revoke.mutate({ keyId });
    const revoked = await shown();
    for (const { lines, next } of [revoked.client, revoked.integration]) {
      expect(lines).toEqual([`It does not work: its API key ${keyId} is revoked.`]);
      expect(next[0]).toBe(`clients update ${clientId} --key KEY`);
    }
    expect(revoked.key.lines).toEqual([expect.stringContaining('Its clients do not work')]);
    await server.admin.clients.disable.mutate({ clientId });
    await server.admin.partners.suspend.mutate({ partnerId });
    const { client, integration } = await shown();
    expect(client.lines?.[0]).toBe('It does not work: its partner is suspended.');
    expect(client.next[0]).toBe(`partners activate ${partnerId}`);
    expect(integration.lines).toHaveLength(3);
    expect(integration.next).toContain(`clients enable ${clientId}`);
  });
});
