import { readFileSync } from 'node:fs';
import { MongoNetworkError } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiError } from '../../server/platform/errors.ts';
import { createHttpServer } from '../../server/platform/http/server.ts';
import { version } from '../../server/platform/version.ts';
import { recordingLogger } from '../harness/log-lines.ts';
import {
  createPartner,
  post,
  redirectUri,
  type TestPartner,
  tokenForm,
  verifyUser,
} from '../harness/partner.ts';
import { createReceiver } from '../harness/receiver.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { newStart, startUrl } from '../journey/pkce.ts';

const log = recordingLogger(['api', 'worker']);
const traceId = '0af7651916cd43dd8448eb211c80319c';
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
let server: TestServer;
let partner: TestPartner;
beforeAll(async () => {
  server = await startTestServer({ logger: log.logger });
  partner = await createPartner(server);
});
afterAll(() => server.stop());

/** The log lines of one request. */
const linesOf = async (answer: Pick<Response, 'headers'>) => {
  const id = answer.headers.get('x-request-id');
  await expect.poll(() => log.of(id).length).toBeGreaterThan(0);
  return log.of(id);
};

it('the version in the log is the version in package.json', () => {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  expect(JSON.parse(manifest)).toMatchObject({ version });
});

describe('the log line of a request', () => {
  it('names service, version and role, and the authenticated partner', async () => {
    const { code: _none, ...form } = tokenForm(partner, { code: 'svc_code_x', codeVerifier: 'v'.repeat(43) });
    const answer = await post(`${server.baseUrl}/api/oauth/token`, {
      ...form,
      code: `svc_code_${'0'.repeat(49)}`,
    });
    expect(answer.status).toBe(400);
    expect(await linesOf(answer)).toEqual([
      expect.objectContaining({
        ...{ service: 'svc-gateway', version, role: 'api,worker', partner: partner.partnerId },
        ...{ level: 30, route: '/api/oauth/token', status: 400, error: 'invalid_grant', msg: 'answered' },
        description: expect.any(String),
      }),
    ]);
  });

  it('names no partner if the credentials are wrong', async () => {
    const form = tokenForm(partner, { code: 'svc_code_x', codeVerifier: 'v'.repeat(43) });
    const wrong = { ...form, client_secret: 'svc_secret_wrong' };
    const [line, ...others] = await linesOf(await post(`${server.baseUrl}/api/oauth/token`, wrong));
    expect(others).toEqual([]);
    expect(line).toMatchObject({ status: 401, error: 'invalid_client' });
    expect(line).not.toHaveProperty('partner');
  });

  it('names the partner of a hosted session, for its start and for a posted form', async () => {
    await verifyUser(server, partner);
    const start = () => log.lines.find(({ route }) => route === '/verify/start');
    await expect.poll(start).toMatchObject({ partner: partner.partnerId, status: 302 });
    expect(
      log.lines.find(({ route, method }) => route === '/verify/session/:session_id' && method === 'POST'),
    ).toMatchObject({ partner: partner.partnerId });
  });

  it('names the reason why a call of the admin API failed', async () => {
    const id = 'ptr_0000000000000000000001';
    await expect(server.admin.partners.show.query({ partnerId: id })).rejects.toThrow();
    const failed = () => log.lines.filter(({ error }) => error === 'not_found');
    await expect.poll(failed).toHaveLength(1);
    expect(failed()[0]).toMatchObject({ status: 404, description: expect.stringContaining(id) });
  });

  it('is not written if the request is a health probe', async () => {
    for (const path of ['/healthz', '/readyz'])
      expect((await fetch(`${server.baseUrl}${path}`)).status).toBe(200);
    await linesOf(await fetch(`${server.baseUrl}/.well-known/jwks.json`));
    expect(log.lines.filter(({ route }) => ['/healthz', '/readyz'].includes(String(route)))).toEqual([]);
  });
});

describe('the log of an error', () => {
  const failures = recordingLogger();
  const app = createHttpServer({ logger: failures.logger, trustProxy: false });
  app.get('/away', () => {
    throw new MongoNetworkError('connect ECONNREFUSED 127.0.0.1:27017');
  });
  app.get('/fault', () => {
    throw new TypeError('a fault of ours');
  });
  app.get('/shed', () => {
    throw new ApiError('service_unavailable', { cause: new Error('the clock is not trusted') });
  });
  afterAll(() => app.close());

  async function only(url: string) {
    const answer = await app.inject(url);
    const lines = failures.of(String(answer.headers['x-request-id']));
    expect(lines).toHaveLength(1);
    return { line: lines[0], text: JSON.stringify(lines) };
  }

  it('has one line with the cause and without a stack if an expected error is answered with 5xx', async () => {
    const { line, text } = await only('/away');
    expect(line).toMatchObject({ level: 50, status: 503, error: 'service_unavailable' });
    expect(line?.['cause']).toBe('MongoNetworkError: connect ECONNREFUSED 127.0.0.1:27017');
    expect(text).not.toContain('at ');
    expect((await only('/shed')).line?.['cause']).toBe('Error: the clock is not trusted');
  });

  it('has one line with the stack if a defect of the service is answered with 500', async () => {
    const { line, text } = await only('/fault');
    expect(line).toMatchObject({
      level: 50,
      status: 500,
      err: { type: 'TypeError', message: 'a fault of ours' },
    });
    expect(text).toContain('answer-log.test');
  });

  it('has no stack if a sweep logs a database error as a warning', () => {
    failures.logger.warn({ err: new MongoNetworkError('closed') }, 'a sweep failed');
    expect(failures.lines.at(-1)).toMatchObject({
      err: { type: 'MongoNetworkError', message: 'MongoNetworkError: closed' },
    });
    expect(failures.lines.at(-1)?.['err']).not.toHaveProperty('stack');
  });
});

describe('a traceparent header', () => {
  const answerTo = (header: string) =>
    fetch(`${server.baseUrl}/.well-known/jwks.json`, { headers: { traceparent: header } });

  it('gives its trace id to the log lines of the request', async () => {
    for (const header of [traceparent, `01-${traceId}-b7ad6b7169203331-00-more`]) {
      expect((await linesOf(await answerTo(header)))[0]).toMatchObject({ traceId });
    }
  });

  it.each([
    ['an unknown form', 'xyz'],
    ['upper case', traceparent.toUpperCase()],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`],
    ['a parent id of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['version ff', traceparent.replace(/^00/, 'ff')],
    ['more fields than version 00 has', `${traceparent}-more`],
  ])('is ignored if it has %s', async (_name, header) => {
    expect((await linesOf(await answerTo(header)))[0]).not.toHaveProperty('traceId');
  });

  it('is sent with the webhooks that the request causes', async () => {
    const receiver = await createReceiver();
    await server.admin.webhooks.set.mutate({ keyId: partner.keyId, url: receiver.url });
    await verifyUser(server, partner, 'teen');
    const returning = await verifyUser(server, partner, 'teen');
    await expect.poll(() => receiver.received.length).toBe(3);
    const answer = await fetch(`${server.baseUrl}/api/oauth/token`, {
      ...{ method: 'POST', headers: { traceparent } },
      body: new URLSearchParams(tokenForm(partner, returning)),
    });
    expect(answer.status).toBe(200);
    await expect.poll(() => receiver.received.length).toBe(4);
    const sent = receiver.received.map(({ headers }) => [headers['x-svc-event'], headers['traceparent']]);
    expect(sent.at(-1)).toEqual(['vae.resolved', traceparent]);
    expect(sent.slice(0, 3).map(([, header]) => header)).toEqual([undefined, undefined, undefined]);
    const attempt = () =>
      log.lines.find((line) => line['msg'] === 'webhook attempt' && line['traceId'] === traceId);
    // The sender logs the attempt after it has recorded the receiver's answer.
    await expect.poll(attempt).toMatchObject({ partner: partner.partnerId, verdict: 'delivered' });
  });

  it('is sent with a later webhook of the session that the request started', async () => {
    const receiver = await createReceiver();
    await server.admin.webhooks.set.mutate({ keyId: partner.keyId, url: receiver.url });
    const { state, codeChallenge } = newStart();
    const { baseUrl } = server;
    const { clientId } = partner;
    const start = startUrl({ baseUrl, clientId, redirectUri, scope: 'age_18_plus', state, codeChallenge });
    const started = await fetch(start, { redirect: 'manual', headers: { traceparent } });
    const location = new URL(started.headers.get('location') ?? '');
    const cookie = started.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
    const page = await (await fetch(location, { headers: { cookie } })).text();
    const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(page) ?? [];
    const body = new URLSearchParams({ csrf, decision: 'cancel' });
    await fetch(location, {
      method: 'POST',
      headers: { cookie, origin: server.baseUrl },
      body,
      redirect: 'manual',
    });
    await expect.poll(() => receiver.received.at(-1)?.headers['traceparent']).toBe(traceparent);
    expect(receiver.received.at(-1)?.headers['x-svc-event']).toBe('verification.session.failed');
  });
});
