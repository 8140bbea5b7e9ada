import { describe, expect, it } from 'vitest';
import {
  ConfigurationError,
  ConnectionError,
  ServiceError,
  type Settings,
  type SvcError,
} from '../../sdk/typescript/src/index.ts';
import { createClientWithoutWaits } from './accounts.ts';

type Reply = Response | Error;
const lost = new TypeError('fetch failed');
const json = (status: number, headers: Record<string, string> = {}) =>
  new Response('{"error":"server_error","error_description":"text"}', { status, headers });
const info = () => Response.json({ sub: 'x', claims: {} });

/** Creates a client whose calls get these replies in order. */
function scripted(replies: readonly Reply[], otherSettings: Partial<Settings> = {}) {
  const left = [...replies];
  const seen: RequestInit[] = [];
  const send = async (_url: unknown, init: RequestInit = {}) => {
    seen.push(init);
    const next = left.shift() ?? new Error('more calls than replies');
    if (next instanceof Error) throw next;
    return next;
  };
  const settings = {
    ...{
      baseUrl: 'https://svc.example/',
      clientId: 'cli_1',
      clientSecret: 'secret',
      redirectUri: 'https://a.example/',
    },
    ...{ integrationId: 'int_1', integrationSecret: 'intsec_1' },
    ...otherSettings,
  };
  return { ...createClientWithoutWaits(settings, { fetch: send as typeof fetch }), seen, left };
}

const failure = (error: unknown) => error as SvcError;

describe('a call of the TypeScript SDK (interface 7.6)', () => {
  it.each([
    ['is repeated 1 s and 2 s after a 500', [json(500), json(500), info()], [1000, 2000]],
    ['is repeated 1 s and 2 s after a lost connection', [lost, lost, info()], [1000, 2000]],
    ['is repeated 1 s after a 502 of a proxy', [new Response('<html>', { status: 502 }), info()], [1000]],
    [
      'is repeated after a 503, when its Retry-After has passed',
      [json(503, { 'retry-after': '5' }), info()],
      [5000],
    ],
    ['is repeated 1 s after a 503 without Retry-After', [json(503), info()], [1000]],
  ] as const)('%s', async (_title, replies, waits) => {
    const { client, waits: waited, left } = scripted(replies);
    expect(await client.userinfo('token')).toMatchObject({ sub: 'x' });
    expect(waited).toEqual(waits);
    expect(left).toEqual([]);
  });

  it('throws a ServiceError after three answers with 500, and a ConnectionError after three lost connections', async () => {
    const { client, waits, seen } = scripted([json(500), json(500), json(500), info()]);
    const error = await client.userinfo('token').catch(failure);
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ code: 'server_error', retryable: true });
    expect([waits, seen.length]).toEqual([[1000, 2000], 3]);
    const silent = await scripted([lost, lost, lost]).client.userinfo('token').catch(failure);
    expect(silent).toBeInstanceOf(ConnectionError);
    expect(silent).toMatchObject({ code: 'no_answer', retryable: true, cause: lost });
  });

  it.each([400, 401, 402, 403, 404, 408, 409, 422, 429])(
    'is not repeated after a %i, and its error has the status and the seconds of Retry-After',
    async (status) => {
      const { client, waits } = scripted([json(status, { 'retry-after': '7' })]);
      const error = await client.userinfo('token').catch(failure);
      expect(error).toMatchObject({ status, retryAfterSeconds: 7, retryable: status === 429 });
      expect(waits).toEqual([]);
    },
  );

  it('is not repeated after a 503 whose Retry-After is an hour, and is repeated at a date in Retry-After', async () => {
    const { client, waits } = scripted([json(503, { 'retry-after': '3600' })]);
    expect(await client.userinfo('token').catch(failure)).toMatchObject({ retryAfterSeconds: 3600 });
    expect(waits).toEqual([]);
    const date = new Date(Date.now() + 10_000).toUTCString();
    const dated = scripted([json(503, { 'retry-after': date }), info()]);
    await dated.client.userinfo('token');
    expect(dated.waits[0]).toBeGreaterThan(5000);
    expect(dated.waits[0]).toBeLessThanOrEqual(11_000);
  });

  it('is repeated with the same bytes if it is signed', async () => {
    const { client, seen } = scripted([json(500), Response.json({ verified: true, claims: {} })]);
    const request = { code: 'svc_code_1', redirect_uri: 'r', shop_domain: 's', customer_id: 'ü' };
    await client.exchangeStorefront(request);
    expect(seen.map(({ body }) => body)).toEqual([JSON.stringify(request), JSON.stringify(request)]);
  });

  it('fails with ConfigurationError without a request if it is signed and a setting is missing', async () => {
    const { client, seen, waits } = scripted([], { integrationSecret: undefined });
    const request = { code: 'svc_code_1', redirect_uri: 'r', shop_domain: 's', customer_id: '1' };
    const error = await client.exchangeStorefront(request).catch(failure);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect([seen, waits]).toEqual([[], []]);
  });

  it('fails with unknown_answer for a redirect, and with malformed_answer for an HTML page', async () => {
    const moved = new Response(null, { status: 302, headers: { location: 'https://evil.example' } });
    const { client, seen } = scripted([moved]);
    const error = await client.revoke('token').catch(failure);
    expect(error).toMatchObject({ code: 'unknown_answer', status: 302 });
    expect(seen[0]?.redirect).toBe('manual');
    const page = await scripted([new Response('<html>')])
      .client.userinfo('token')
      .catch(failure);
    expect(page).toMatchObject({ code: 'malformed_answer', retryable: false });
  });
});
