import { describe, expect, it } from 'vitest';
import {
  ArgumentError,
  ConfigurationError,
  ConnectionError,
  createClient,
  type Settings,
  SvcError,
} from '../../sdk/typescript/src/index.ts';
import { FlowError, walkFlow } from '../../sdk/typescript/src/testing.ts';
import * as inputs from './inputs.ts';

type Client = ReturnType<typeof createClient>;
const names = Object.keys(inputs.settings) as (keyof Settings)[];
const request = { code: 'c', redirect_uri: 'r', shop_domain: 's', customer_id: '1' };

/** A client whose requests are kept, and get this answer. */
function recorded(answer: (url: string) => Promise<Response>, changes: Partial<Settings> = {}) {
  const sent: { url: string; init: RequestInit }[] = [];
  const fetch = async (url: unknown, init: RequestInit = {}) => {
    sent.push({ url: String(url), init });
    return answer(String(url));
  };
  const sleep = async () => {};
  const client = createClient(
    { ...inputs.settings, ...changes },
    { fetch: fetch as typeof globalThis.fetch, sleep },
  );
  return { client, sent };
}
const ok = async (url: string) => new Response(url.endsWith('/revoke') ? '' : inputs.wholeBody);

/** Calls that send a request, each with one argument that can be replaced. */
const calls: Record<string, (client: Client, value: string) => Promise<unknown>> = {
  'exchange (code)': (client, code) => client.exchange({ code, codeVerifier: 'v' }),
  'exchange (codeVerifier)': (client, codeVerifier) => client.exchange({ code: 'c', codeVerifier }),
  userinfo: (client, token) => client.userinfo(token),
  revoke: (client, token) => client.revoke(token),
  session: (client, id) => client.session(id),
};
/** Calls that make an address. */
const addresses: typeof calls = {
  'authorizationUrl (scope)': (client, scope) => client.authorizationUrl({ scope: ['country', scope] }),
  'authorizationUrl (state)': (client, state) => client.authorizationUrl({ scope: [], state }),
  'authorizationUrl (uiLocales)': (client, uiLocales) => client.authorizationUrl({ scope: [], uiLocales }),
  'authorizationUrl (clientReferenceId)': (client, clientReferenceId) =>
    client.authorizationUrl({ scope: [], clientReferenceId }),
};
const storefront = (client: Client, _value?: string) => client.exchangeStorefront(request);

async function failureOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
    return 'none';
  } catch (error) {
    return error;
  }
}

describe('a setting of the TypeScript SDK', () => {
  it.each(names)('%s is trimmed, and refused with other characters, without its value', async (name) => {
    const value = String(inputs.settings[name]);
    const clean = await recorded(ok).client.authorizationUrl({ scope: [], state: 'state' });
    for (const around of inputs.surroundings) {
      const { client } = recorded(ok, { [name]: around + value + around });
      const { url } = await client.authorizationUrl({ scope: [], state: 'state' });
      expect(url.replace(/code_challenge=[^&]*/, '')).toBe(clean.url.replace(/code_challenge=[^&]*/, ''));
    }
    for (const form of inputs.unsendable) {
      const error = await failureOf(() => recorded(ok, { [name]: form.replace('_', value) }));
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error).toMatchObject({ code: 'malformed_setting', message: expect.stringContaining(name) });
      expect(String(error)).not.toContain(value);
    }
    const wrong = await failureOf(() => recorded(ok, { [name]: 5 as unknown as string }));
    expect(wrong).toMatchObject({ code: 'malformed_setting' });
  });

  it('reaches the service without the white space around it', async () => {
    const padded = Object.fromEntries(names.map((name) => [name, ` ${inputs.settings[name]}\r\n`]));
    const { client, sent } = recorded(ok, padded);
    await client.session('ses_1');
    await client.exchange({ code: 'c', codeVerifier: 'v' });
    await storefront(client);
    const [session, token, shop] = sent;
    expect(session?.url).toBe('https://svc.example/api/verify/hvf-session/ses_1');
    expect(session?.init.headers).toEqual({ authorization: 'Bearer svc_test_secret' });
    expect(Object.fromEntries(token?.init.body as URLSearchParams)).toMatchObject({
      client_id: 'client_1',
      client_secret: 'svc_cs_secret',
      redirect_uri: 'https://shop.example/callback',
    });
    expect(shop?.init.headers).toMatchObject({ 'x-svc-integration-id': 'integration_1' });
  });

  it.each(names.filter((name) => name !== 'baseUrl'))('%s counts as missing if it is blank', async (name) => {
    const { client } = recorded(ok, { [name]: ' \n' });
    const all = [() => storefront(client), () => client.session('x'), ...Object.values(calls)];
    const codes = await Promise.all(all.map((call) => failureOf(() => call(client, 'x'))));
    const webhook = await failureOf(() => client.verifyWebhook({ body: '{}', headers: {} }));
    const expected = name === 'webhookSecret' ? 'secret_required' : 'missing_setting';
    expect([...codes, webhook]).toContainEqual(expect.objectContaining({ code: expected }));
  });

  it.each(inputs.wrongBaseUrls)('is refused if it is the base URL %j', async (baseUrl) => {
    const error = await failureOf(() => createClient({ baseUrl }));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({ code: 'missing_setting' });
  });
});

describe('an argument of the TypeScript SDK', () => {
  it.each(Object.entries({ ...calls, ...addresses }))(
    'throws an ArgumentError without its value, before anything is sent, if it is one of %s and no printable ASCII',
    async (_name, call) => {
      const { client, sent } = recorded(ok);
      for (const form of [...inputs.unsendable, '_\ud800']) {
        const error = await failureOf(() => call(client, form.replace('_', 'private')));
        expect(error).toBeInstanceOf(ArgumentError);
        expect(String(error)).not.toContain('private');
      }
      expect(sent).toEqual([]);
      expect(await failureOf(() => call(client, 'plain'))).toBe('none');
    },
  );

  it.each(Object.entries(calls))(
    'throws an ArgumentError if it is one of %s and no text',
    async (_name, call) => {
      const { client, sent } = recorded(ok);
      for (const value of [undefined, null, 5, {}, []])
        expect(await failureOf(() => call(client, value as unknown as string))).toBeInstanceOf(ArgumentError);
      expect(sent).toEqual([]);
    },
  );

  it('throws an ArgumentError if it is the request of exchangeStorefront and no JSON object', async () => {
    const { client, sent } = recorded(ok);
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    for (const value of [undefined, null, 'x', [], circular, { big: 1n }])
      expect(await failureOf(() => client.exchangeStorefront(value as typeof request))).toBeInstanceOf(
        ArgumentError,
      );
    expect(sent).toEqual([]);
  });

  it('throws an SvcError if it is one of callback or verifyWebhook and has a wrong type', async () => {
    const { client } = recorded(ok);
    for (const value of [undefined, null, 5, {}] as unknown as string[]) {
      expect(await failureOf(() => client.callback(value, { state: 's' }))).toBeInstanceOf(SvcError);
      expect(await failureOf(() => client.callback('', { state: value }))).toBeInstanceOf(SvcError);
      const delivery = { body: value, headers: value as unknown as Headers };
      expect(await failureOf(() => client.verifyWebhook(delivery))).toBeInstanceOf(SvcError);
      expect(await failureOf(() => client.verifyWebhook({ ...delivery, body: '' }))).toBeInstanceOf(SvcError);
    }
  });
});

describe('an answer to the TypeScript SDK', () => {
  it('comes from no cache', async () => {
    const { client, sent } = recorded(ok);
    for (const call of [...Object.values(calls), storefront]) await call(client, 'x');
    expect(sent.map(({ init }) => (init as { cache?: string }).cache)).toEqual(sent.map(() => 'no-store'));
    expect(sent).toHaveLength(6);
  });

  it.each(Object.entries({ ...calls, shop: storefront }))(
    'makes %s throw a ConnectionError if it is malformed or does not arrive',
    async (name, call) => {
      // The body of a 200 to `revoke` is empty.
      for (const body of inputs.malformedBodies.filter((each) => each !== '' || name !== 'revoke')) {
        const error = await failureOf(() => call(recorded(async () => new Response(body)).client, 'x'));
        expect(error).toBeInstanceOf(ConnectionError);
        expect(error).toMatchObject({ code: 'malformed_answer' });
      }
      const [, argument = name] = /\((\w+)\)/.exec(name) ?? [];
      for (const body of inputs.incompleteBodies[argument] ?? []) {
        const error = await failureOf(() => call(recorded(async () => new Response(body)).client, 'x'));
        expect(error).toMatchObject({ code: 'malformed_answer' });
      }
      const lost = () => Promise.reject(new TypeError('fetch failed'));
      expect(await failureOf(() => call(recorded(lost).client, 'x'))).toMatchObject({ code: 'no_answer' });
    },
  );

  it('makes walkFlow throw a FlowError if it does not arrive', async () => {
    const fetch = () => Promise.reject(new TypeError('fetch failed'));
    const walk = (start: string) => failureOf(() => walkFlow(start, { person: 'adult', fetch }));
    expect(await walk('https://svc.example/verify/start')).toBeInstanceOf(FlowError);
    expect(await walk('no address')).toBeInstanceOf(FlowError);
  });
});
