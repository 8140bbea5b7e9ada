import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiError } from '../../server/platform/errors.ts';
import { createHttpServer, type HttpServer } from '../../server/platform/http/server.ts';
import { createLogger } from '../../server/platform/logging.ts';
import { type AdminServer, firstToken, refusal, startAdminServer } from './admin-server.ts';

let server: AdminServer;
let watched: HttpServer;
beforeAll(async () => {
  server = await startAdminServer();
  // Stands for the public listener: two answers whose fate is to be told.
  watched = createHttpServer({ logger: createLogger('silent'), trustProxy: false });
  server.admin.observe(watched);
  watched.post('/api/oauth/token', () => {
    throw new ApiError('rate_limited', {
      description: 'Spend limit exceeded: minute bucket',
      retryAfter: 12,
    });
  });
  watched.get('/api/verify/hvf-session/:session_id', async () => ({ success: true }));
});
afterAll(async () => {
  await watched.close();
  await server.close();
});

const basic = (token: string) => ({
  authorization: `Basic ${Buffer.from(`kim:${token}`).toString('base64')}`,
});

describe('GET /ops', () => {
  const open = (headers: Record<string, string> = {}) => fetch(`${server.url}/ops`, { headers });

  it('asks for an operator token', async () => {
    const answer = await open();
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic realm=/);
    const { token } = await server.api.operators.create.mutate({ name: 'Kim', role: 'support' });
    expect((await open(basic(token))).status).toBe(403);
  });

  it('shows what is wrong, without a script, and lets no text of others become markup', async () => {
    const { db } = server.database;
    const { id } = await server.api.partners.create.mutate({ name: 'Acme' });
    const { id: unfunded } = await server.api.partners.create.mutate({ name: 'Never funded' });
    const wallet = { partnerId: id, mode: 'live' as const };
    await server.api.wallets.adjust.mutate({ ...wallet, amount: 999, reason: 'nearly empty' });
    await db.collection<{ _id: string; attempts: object[] }>('deliveries').insertOne({
      ...{ _id: 'dlv_1', keyId: 'key_1', partnerId: id, status: 'failed', createdAt: new Date() },
      attempts: [{ detail: '<img src=x onerror=alert(1)>' }],
    });
    const answer = await open(basic(firstToken));
    const page = await answer.text();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(page).toContain('&lt;img src=x onerror=alert(1)&gt;');
    expect(page).toContain(`<td>${id}:live</td><td>9.99 USD</td>`);
    expect(page).not.toContain(unfunded);
    expect(page).not.toMatch(/<script|<img/);
  });
});

describe('GET /metrics', () => {
  it('counts token answers and cap refusals, and reads the queue', async () => {
    await watched.inject({ method: 'POST', url: '/api/oauth/token' });
    const answer = await fetch(`${server.url}/metrics`, {
      headers: { authorization: `Bearer ${firstToken}` },
    });
    const text = await answer.text();
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(text).toMatch(/^svc_token_results_total\{code="rate_limited"\} [1-9]/m);
    expect(text).toMatch(/^svc_cap_refusals_total\{bucket="minute"\} [1-9]/m);
    expect(text).toMatch(/^svc_delivery_lag_seconds \d/m);
    expect((await fetch(`${server.url}/metrics`)).status).toBe(401);
  });
});

describe('requests.show', () => {
  it('tells what one request of the public API did, without its secrets', async () => {
    const payload = { client_id: 'cli_1', client_secret: 'svc_secret_x', code: 'svc_code_x' };
    const answer = await watched.inject({ method: 'POST', url: '/api/oauth/token', payload });
    await server.admin.flush();
    const requestId = String(answer.headers['x-request-id']);
    const { request, changes } = await server.api.requests.show.query({ requestId });
    expect(request).toMatchObject({
      ...{ route: '/api/oauth/token', status: 429, error: 'rate_limited', clientId: 'cli_1', retryAfter: 12 },
      description: 'Spend limit exceeded: minute bucket',
    });
    expect(changes).toEqual([]);
    expect(JSON.stringify(request)).not.toMatch(/svc_secret|svc_code/);
  });

  it('names the session of a query, and keeps a sample of successes only', async () => {
    const query = () => watched.inject({ url: '/api/verify/hvf-session/ses_1' });
    const first = await query();
    for (let sent = 0; sent < 60; sent += 1) await query();
    const last = await query();
    await server.admin.flush();
    const show = (answer: typeof first) =>
      server.api.requests.show.query({ requestId: String(answer.headers['x-request-id']) });
    expect(await show(first)).toMatchObject({ request: { sessionId: 'ses_1', status: 200, error: null } });
    expect(await refusal(show(last))).toBe('not_found');
  });

  it('tells what a request of the admin API changed', async () => {
    const { id } = await server.api.partners.create.mutate({ name: 'Acme' });
    const [entry] = await server.api.auditLog.list.query({ target: id });
    const story = await server.api.requests.show.query({ requestId: entry?.requestId ?? '' });
    expect(story).toEqual({ id: entry?.requestId, request: null, changes: [entry] });
  });
});
