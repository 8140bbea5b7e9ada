import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { opsAnchors } from '../../server/console/ops/ops-page.ts';
import { ApiError } from '../../server/platform/errors.ts';
import { createHttpServer, type HttpServer } from '../../server/platform/http/server.ts';
import { createLogger } from '../../server/platform/telemetry/logging.ts';
import { createReceiver } from '../harness/receiver.ts';
import { adminToken, refusal, shiftedClock, startTestServer, type TestServer } from '../harness/server.ts';

/** Whether promtool is installed. Debian has it in the package prometheus. */
const promtool = spawnSync('promtool', ['--version']).status === 0;
const clock = shiftedClock();
let server: TestServer;
let watched: HttpServer;
beforeAll(async () => {
  server = await startTestServer({ clock });
  // Replaces the public listener, because the page must show the results of two requests.
  watched = createHttpServer({ logger: createLogger('silent'), trustProxy: false });
  server.services.admin.observe(watched);
  watched.post('/api/oauth/token', () => {
    throw new ApiError('rate_limited', {
      description: 'Spend limit exceeded: minute bucket',
      retryAfter: 12,
    });
  });
  watched.get('/api/verify/hvf-session/:session_id', async () => ({ success: true }));
  // Requests of unknown callers are not stored.
  for (const [name, _id] of Object.entries({ clients: 'cli_1', sessions: 'ses_1' }))
    await server.db.collection<{ _id: string }>(name).insertOne({ _id, partnerId: 'ptr_1' } as never);
});
afterAll(async () => {
  await watched.close();
  await server.stop();
});

const basic = (token: string) => ({
  authorization: `Basic ${Buffer.from(`kim:${token}`).toString('base64')}`,
});

describe('GET /ops', () => {
  const open = (headers: Record<string, string> = {}, query = '') =>
    fetch(`${server.adminUrl}/ops${query}`, { headers });

  /** Creates a partner whose live wallet is nearly empty, so that `/ops` lists it. Returns the partner's id. */
  async function createNearlyEmptyWallet(name: string): Promise<string> {
    const { id } = await server.admin.partners.create.mutate({ name });
    const change = { partnerId: id, mode: 'live' as const, amount: 999, reason: 'nearly empty' };
    await server.admin.wallets.adjust.mutate(change);
    // This call updates the summaries immediately. A sweep would update them some seconds later.
    await server.admin.wallets.list.query({ below: 1_000 });
    return id;
  }

  it('answers 401 without a token, and 403 for the role support', async () => {
    const answer = await open();
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic realm=/);
    const { token } = await server.admin.operators.create.mutate({ name: 'Kim', role: 'support' });
    expect((await open(basic(token))).status).toBe(403);
  });

  it('shows nearly empty wallets and failed deliveries without a script, and escapes text from receivers', async () => {
    const { db } = server;
    const id = await createNearlyEmptyWallet('Acme');
    const { id: unfunded } = await server.admin.partners.create.mutate({ name: 'Never funded' });
    await db.collection<{ _id: string; attempts: object[] }>('deliveries').insertOne({
      ...{
        _id: 'dlv_1',
        keyId: 'key_1',
        partnerId: id,
        mode: 'test',
        status: 'failed',
        createdAt: new Date(),
      },
      attempts: [{ detail: '<img src=x onerror=alert(1)>' }],
    });
    const answer = await open(basic(adminToken));
    const page = await answer.text();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(page).toContain('&lt;img src=x onerror=alert(1)&gt;');
    expect(page).toContain('The live wallet of Acme has 9.99 USD left');
    expect(page).toContain(`svcadmin wallets show ${id} --mode live`);
    expect(page).not.toContain(unfunded);
    expect(page).not.toMatch(/<script|<img/);
    expect(page).toContain('Needs attention');
  });

  it('lists live before test deliveries, pending deliveries with their due time, and recent refused requests', async () => {
    const { db } = server;
    clock.ahead += 10_000;
    const [live, test] = await Promise.all(
      ['Live Corp', 'Test Corp'].map((name) => server.admin.partners.create.mutate({ name })),
    );
    const rows = [
      { _id: 'dlv_live', partnerId: live?.id, mode: 'live', type: 'vae.resolved' },
      { _id: 'dlv_test', partnerId: test?.id, mode: 'test', type: 'enrollment.created' },
    ];
    const nextAttemptAt = new Date(clock.now() + 60_000);
    await db
      .collection<{ _id: string }>('deliveries')
      .insertMany(
        rows.map((row) => ({ ...row, status: 'pending', attempt: 2, attempts: [], nextAttemptAt })),
      );
    await watched.inject({ method: 'POST', url: '/api/oauth/token', payload: { client_id: 'cli_1' } });
    await server.services.admin.flush();
    const page = await (await open(basic(adminToken))).text();
    const sectionsOf = (mode: string) => page.split('<section').filter((part) => part.includes(`>${mode}: `));
    const [liveHalf, testHalf] = [sectionsOf('Live').join(), sectionsOf('Test').join()];
    expect(liveHalf).toContain('Live Corp');
    expect(liveHalf).toContain('svcadmin deliveries show dlv_live');
    expect(liveHalf).not.toContain('Test Corp');
    expect(testHalf).toContain('svcadmin deliveries show dlv_test');
    expect(testHalf).not.toContain('Live Corp');
    expect(page).toMatch(/rate_limited<\/td><td[^>]*>\/api\/oauth\/token/);
    expect(page).toMatch(/svcadmin request req_/);
  });

  it('names suspended and closed partners that call, refusals far above normal, live endpoints that fail, and open warnings', async () => {
    const { db, admin } = server;
    // The page shows figures of some seconds ago.
    clock.ahead += 10_000;
    const [away, gone, busy, usual, failing] = await Promise.all(
      ['Away Inc', 'Gone Inc', 'Surge Inc', 'Usual Inc', 'Retry Inc'].map((name) =>
        admin.partners.create.mutate({ name }),
      ),
    );
    await admin.partners.activate.mutate({ partnerId: away?.id ?? '' });
    await admin.partners.suspend.mutate({ partnerId: away?.id ?? '' });
    await admin.partners.close.mutate({ partnerId: gone?.id ?? '', reason: 'end of contract' });
    let id = 0;
    const refused = (partnerId: string | undefined, count: number, minutesAgo: number) =>
      Array.from({ length: count }, () => ({
        ...{ _id: `req_surge${++id}`, partnerId, route: '/api/oauth/token', method: 'POST', durationMs: 1 },
        ...{ status: 401, error: 'invalid_client', at: new Date(clock.now() - minutesAgo * 60_000) },
      }));
    await db
      .collection<{ _id: string }>('requestLog')
      .insertMany([
        ...refused(away?.id, 1, 1),
        ...refused(gone?.id, 1, 1),
        ...refused(busy?.id, 30, 1),
        ...refused(busy?.id, 96, 600),
        ...refused(usual?.id, 30, 1),
        ...refused(usual?.id, 1_200, 600),
      ]);
    const row = { partnerId: failing?.id, mode: 'live', type: 'vae.resolved', status: 'pending', attempt: 2 };
    const nextAttemptAt = new Date(clock.now() + 60_000);
    await db
      .collection<{ _id: string }>('deliveries')
      .insertOne({ ...row, _id: 'dlv_retry', attempts: [{ status: 503 }], nextAttemptAt } as never);
    const since = new Date(clock.now() - 3_600_000);
    const warning = {
      partnerId: failing?.id,
      mode: 'live',
      kind: 'secret_expiring',
      text: 'A secret ends soon',
    };
    await db
      .collection<{ _id: string }>('warnings')
      .insertOne({ ...warning, _id: 'wrn_1', open: true, raisedAt: since, since } as never);
    const page = await (await open(basic(adminToken))).text();
    const [, problems = ''] = page.split('Open problems');
    expect(problems).toContain('Away Inc is suspended, and sent 1 requests in 15 minutes');
    expect(problems).toContain('Gone Inc is closed, and sent 1 requests in 15 minutes');
    expect(problems).toContain('30 requests of Surge Inc were refused in 15 minutes; 1 are normal');
    expect(problems).toContain('Live webhooks to Retry Inc fail: 503');
    expect(problems).toContain('Retry Inc: A secret ends soon');
    expect(problems).not.toContain('of Usual Inc were refused');
    await db.collection('requestLog').deleteMany({ route: '/api/oauth/token', error: 'invalid_client' });
    await db.collection('warnings').deleteMany({});
  });

  it('links commands to their sections in the guides, and each of those sections exists', async () => {
    const reference = await (await fetch(`${server.publicUrl}/docs/cli`)).text();
    const headings = [...reference.matchAll(/<h3 id="([^"]+)"/g)].map(([, anchor = '']) => anchor);
    expect(headings.length).toBeGreaterThan(50);
    expect(opsAnchors.filter((anchor) => !headings.includes(anchor))).toEqual([]);
    await createNearlyEmptyWallet('Linked Inc');
    expect(await (await open(basic(adminToken))).text()).toContain('/docs/cli#svcadmin-wallets-show');
  });

  it('reloads itself every 15 s, but not with the query ?still', async () => {
    const reloading = await open(basic(adminToken));
    expect(reloading.headers.get('refresh')).toBe('15');
    expect(await reloading.text()).toContain('href="?still"');
    const still = await open(basic(adminToken), '?still');
    expect(still.headers.get('refresh')).toBeNull();
    expect(await still.text()).toContain('href="?"');
  });
});

describe('GET /metrics', () => {
  /** Reads /metrics, and returns its samples by name and labels. */
  async function scrape(): Promise<Map<string, number>> {
    const headers = { authorization: `Bearer ${adminToken}` };
    const text = await (await fetch(`${server.adminUrl}/metrics`, { headers })).text();
    const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(
      samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
    );
  }

  it('counts token responses and spend cap refusals, measures delivery lag, and answers 401 without a token', async () => {
    await watched.inject({ method: 'POST', url: '/api/oauth/token' });
    const answer = await fetch(`${server.adminUrl}/metrics`, {
      headers: { authorization: `Bearer ${adminToken}` },
    });
    const text = await answer.text();
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(text).toMatch(/^svc_token_results_total\{code="rate_limited"\} [1-9]/m);
    expect(text).toMatch(/^svc_cap_refusals_total\{bucket="minute"\} [1-9]/m);
    expect(text).toMatch(/^svc_delivery_lag_seconds \d/m);
    expect((await fetch(`${server.adminUrl}/metrics`)).status).toBe(401);
  });

  it('counts and times responses by route template, never by path', async () => {
    await server.admin.partners.list.query({});
    await fetch(`${server.adminUrl}/trpc/partners.show?input=secret`);
    await fetch(`${server.adminUrl}/nowhere/else`);
    const samples = await scrape();
    const requests = [...samples.keys()].filter((name) => name.startsWith('svc_http_requests_total'));
    expect(requests).toContain('svc_http_requests_total{method="GET",route="/trpc/:path",status="200"}');
    expect(requests).toContain('svc_http_requests_total{method="GET",route="none",status="404"}');
    expect(requests.join()).not.toMatch(/secret|nowhere|partners/);
    const count = 'svc_http_request_duration_seconds_count{method="GET",route="/trpc/:path"}';
    expect(samples.get(count)).toBeGreaterThan(1);
  });

  it('names the running version, the version of Node.js and the roles of the process', async () => {
    expect([...(await scrape()).keys()]).toContainEqual(
      expect.stringMatching(/^svc_build_info\{version="[\d.]+",node="[\d.]+",role="api,admin,worker"\}$/),
    );
  });

  it('counts deliveries in the database at most once in 15 s', async () => {
    clock.ahead += 60_000;
    await Promise.all([scrape(), scrape()]);
    const failed = async () => (await scrape()).get('svc_deliveries{status="failed"}') ?? 0;
    const before = await failed();
    await server.db.collection<{ _id: string }>('deliveries').insertOne({
      ...{ _id: 'dlv_later', status: 'failed', createdAt: new Date(), attempts: [] },
    } as never);
    expect(await failed()).toBe(before);
    clock.ahead += 10_000;
    expect((await scrape()).get('svc_backlog_age_seconds')).toBeGreaterThan(9);
    expect(await failed()).toBe(before);
    clock.ahead += 5_000;
    expect(await failed()).toBe(before + 1);
  });

  it.skipIf(!promtool)('has the valid Prometheus text format', async () => {
    const headers = { authorization: `Bearer ${adminToken}` };
    const input = await (await fetch(`${server.adminUrl}/metrics`, { headers })).text();
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input,
      encoding: 'utf8',
    });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  it('returns only metrics that docs/operations.md documents', async () => {
    const headers = { authorization: `Bearer ${adminToken}` };
    const text = await (await fetch(`${server.adminUrl}/metrics`, { headers })).text();
    const names = [...text.matchAll(/^# HELP (svc_\w+)/gm)].map(([, name]) => name);
    const page = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8');
    const documented = [...page.matchAll(/^\| `(svc_\w+)/gm)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(5);
    expect(documented.sort()).toEqual(names.sort());
  });

  it('has the send lag of three deliveries, and the seconds since this process last polled for jobs', async () => {
    const receiver = await createReceiver();
    const { admin } = server;
    const { id: partnerId } = await admin.partners.create.mutate({ name: 'Acme' });
    await admin.partners.activate.mutate({ partnerId });
    const { id: keyId } = await admin.keys.create.mutate({ partnerId, mode: 'test' });
    await admin.webhooks.set.mutate({ keyId, url: receiver.url });
    const before = await scrape();
    for (let sent = 0; sent < 3; sent += 1) {
      await admin.webhooks.trigger.mutate({ keyId, event: 'enrollment.created' });
    }
    await expect.poll(() => receiver.received.length).toBe(3);
    const name = 'svc_delivery_send_lag_seconds';
    const grown = async (metric: string) => ((await scrape()).get(metric) ?? 0) - (before.get(metric) ?? 0);
    expect(await grown(`${name}_count{lane="first"}`)).toBe(3);
    expect(await grown(`${name}_bucket{le="300",lane="first"}`)).toBe(3);
    expect(await grown(`${name}_sum{lane="first"}`)).toBeLessThan(3 * 300);
    const age = async () => (await scrape()).get('svc_scheduler_tick_age_seconds');
    const [first = 0, then = 0] = [await age(), await age()];
    expect(first).toBeGreaterThan(0);
    // The server polls again within seconds, so the age falls again.
    expect(then).not.toBe(first);
    await expect.poll(age).toBeLessThan(Math.max(first, then));
  });
});

describe('the procedure requests.show', () => {
  it('returns route, status, error and Retry-After of a request refused with 429, without its client secret and code', async () => {
    const payload = { client_id: 'cli_1', client_secret: 'svc_secret_x', code: 'svc_code_x' };
    const answer = await watched.inject({ method: 'POST', url: '/api/oauth/token', payload });
    await server.services.admin.flush();
    const requestId = String(answer.headers['x-request-id']);
    const { request, changes } = await server.admin.requests.show.query({ requestId });
    expect(request).toMatchObject({
      ...{ route: '/api/oauth/token', status: 429, error: 'rate_limited', clientId: 'cli_1', retryAfter: 12 },
      description: 'Spend limit exceeded: minute bucket',
    });
    expect(changes).toEqual([]);
    expect(JSON.stringify(request)).not.toMatch(/svc_secret|svc_code/);
  });

  it('returns the session id of the first of 62 queries of a session, and not_found for the last, which is not logged', async () => {
    const query = () => watched.inject({ url: '/api/verify/hvf-session/ses_1' });
    const first = await query();
    for (let sent = 0; sent < 60; sent += 1) await query();
    const last = await query();
    await server.services.admin.flush();
    const show = (answer: typeof first) =>
      server.admin.requests.show.query({ requestId: String(answer.headers['x-request-id']) });
    expect(await show(first)).toMatchObject({ request: { sessionId: 'ses_1', status: 200, error: null } });
    expect(await refusal(show(last))).toBe('not_found');
  });

  it('lists the changes that a request of the admin API made', async () => {
    const { id } = await server.admin.partners.create.mutate({ name: 'Acme' });
    const [entry] = await server.admin.auditLog.list.query({ target: id });
    const shown = await server.admin.requests.show.query({ requestId: entry?.requestId ?? '' });
    expect(shown).toEqual({ id: entry?.requestId, request: null, inactive: null, changes: [entry] });
  });
});
