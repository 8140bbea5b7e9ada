import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createShop, type Shop, sign } from '../api/storefront/shop.ts';
import { type SignedInMember, signedIn } from '../console/portal/signed-in.ts';
import { completeSession } from '../harness/completed-session.ts';
import { createPartner, exchangeCode, type TestPartner } from '../harness/partner.ts';
import { adminToken, refusal, startTestServer, type TestServer } from '../harness/server.ts';

let server: TestServer;
let partner: TestPartner;
let shop: Shop;
let member: SignedInMember;
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_PORTAL: 'on' } });
  [partner, shop] = await Promise.all([createPartner(server), createShop(server)]);
  member = await signedIn(server, partner.partnerId, 'owner');
});
afterAll(() => server.stop());

type Body = string | Buffer;
type Send = (body: Body) => Promise<Response>;

const jsonType = { 'content-type': 'application/json' };
const formType = { 'content-type': 'application/x-www-form-urlencoded' };
const post = (url: string, headers: Record<string, string>, body: Body) =>
  fetch(url, { method: 'POST', headers, body, redirect: 'manual' });
const origin = () => new URL(server.baseUrl).origin;
const asMember = async () => ({
  ...{ cookie: member.browser.cookie(), origin: origin() },
  'x-csrf-token': await member.csrf(),
});

/** The endpoints that take JSON, of each listener and each format of errors. */
const jsonEndpoints: Record<string, Send> = {
  token: (body) => post(`${server.baseUrl}/api/oauth/token`, jsonType, body),
  revoke: (body) => post(`${server.baseUrl}/api/oauth/revoke`, jsonType, body),
  checkbox: (body) =>
    post(
      `${server.baseUrl}/api/checkbox/resolve`,
      { ...jsonType, authorization: `Bearer ${partner.apiKey}`, 'idempotency-key': randomUUID() },
      body,
    ),
  storefront: (body) =>
    post(
      `${server.baseUrl}/api/integrations/storefront/verify/exchange`,
      { ...jsonType, ...sign(shop, body, Date.now()) },
      body,
    ),
  'a page of a session': (body) => post(`${server.baseUrl}/verify/session/ses_1`, jsonType, body),
  'a device code': (body) => post(`${server.baseUrl}/portal/device/token`, jsonType, body),
  'the admin API': (body) =>
    post(
      `${server.adminUrl}/trpc/partners.create`,
      { ...jsonType, authorization: `Bearer ${adminToken}` },
      body,
    ),
  'the admin API for members': async (body) =>
    post(`${server.publicUrl}/portal/trpc/clients.create`, { ...jsonType, ...(await asMember()) }, body),
};

const formEndpoints: Record<string, Send> = {
  token: (body) => post(`${server.baseUrl}/api/oauth/token`, formType, body),
  revoke: (body) => post(`${server.baseUrl}/api/oauth/revoke`, formType, body),
  'a page of a session': (body) => post(`${server.baseUrl}/verify/session/ses_1`, formType, body),
  'a hand-off link': (body) => post(`${server.baseUrl}/verify/p/x`, formType, body),
  'the page of own data': (body) => post(`${server.baseUrl}/verify/you/sign-in`, formType, body),
  'the test identity wallet': (body) => post(`${server.baseUrl}/verify/test-wallet`, formType, body),
  'an identity wallet': (body) => post(`${server.baseUrl}/verify/wallet/test-wallet-age/x`, formType, body),
  'a device code': (body) => post(`${server.baseUrl}/portal/device/token`, formType, body),
  'the sign-in of the portal': (body) => post(`${server.publicUrl}/portal/sign-in`, formType, body),
  'a page of the portal': async (body) =>
    post(`${server.publicUrl}/portal/wallet`, { ...formType, ...(await asMember()) }, body),
};

const queries: Record<string, (query: string) => Promise<Response>> = {
  'a start': (query) => fetch(`${server.baseUrl}/verify/start?${query}`),
  'a provider return': (query) => fetch(`${server.baseUrl}/verify/callback/one?${query}`),
  'the events of an account': (query) =>
    fetch(`${server.baseUrl}/api/events?${query}`, {
      headers: { authorization: `Bearer ${partner.apiKey}` },
    }),
  'a page of the portal': (query) =>
    fetch(`${server.publicUrl}/portal/requests?${query}`, { headers: { cookie: member.browser.cookie() } }),
  'the admin API': (query) =>
    fetch(`${server.adminUrl}/trpc/partners.search?${query}`, {
      headers: { authorization: `Bearer ${adminToken}` },
    }),
  'a page for operators': (query) =>
    fetch(`${server.adminUrl}/ops?${query}`, { headers: { authorization: `Bearer ${adminToken}` } }),
};

/** Expects a 400 with a short text, in whatever format the endpoint has. @returns the text */
async function refusalOf(response: Response): Promise<string> {
  const text = await response.text();
  expect([response.status, text]).toEqual([400, expect.any(String)]);
  expect(text.length).toBeLessThan(20_000); // the largest are pages
  return text;
}

const jsonFaults: [what: string, body: Body, message: RegExp][] = [
  ['a lone surrogate in a text', '{"more":"a\\ud800b"}', /more has U\+D800 at position 2/],
  ['a lone surrogate in a name', '{"a":{"\\udfff":1}}', /name of a value has U\+DFFF/],
  ['two surrogates in the wrong order', '{"more":["\\udc00\\ud800"]}', /more\.0 has U\+DC00/],
  ['NUL', '{"more":"\\u0000"}', /more has U\+0000 at position 1/],
  ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), /is not UTF-8/],
  ['a name twice', '{"more":1,"more":2}', /more must be given once/],
  ['an escaped name twice, within', '{"a":[{"b":1,"\\u0062":2}]}', /b must be given once/],
  ['33 nested levels', `{"more":${'['.repeat(33)}${']'.repeat(33)}}`, /nested deeper than 32 levels/],
  ['more than 2,000 values', JSON.stringify({ more: Array(2_000).fill(1) }), /more than 2000 values/],
];

describe.each(Object.entries(jsonEndpoints))('a JSON body sent to %s', (_, send) => {
  it.each(jsonFaults)('gets 400 that says so if it has %s', async (_what, body, message) => {
    expect(await refusalOf(await send(body))).toMatch(message);
  });
});

describe.each(Object.entries(formEndpoints))('a form sent to %s', (_, send) => {
  it.each([
    ['NUL', 'more=%00', /has U\+0000/],
    ['NUL in a name', 'a%00b=1', /has U\+0000/],
    ['bytes that are not UTF-8', Buffer.from([0x61, 0x3d, 0xff]), /is not UTF-8/],
    ['escapes that are not UTF-8', 'more=%ff', /is not percent-encoded UTF-8/],
    ['escapes of a surrogate', 'more=%ed%a0%80', /is not percent-encoded UTF-8/],
  ])('gets 400 if it has %s', async (_what, body, message) => {
    const text = await refusalOf(await send(body));
    // A page for users has words of its own.
    if (!text.startsWith('<!')) expect(text).toMatch(message);
  });
});

// Pages, and the return of a provider, ignore what they do not know.
it.each(Object.entries(queries).filter(([name]) => /^(the|a start)/.test(name)))(
  'the query of %s gets 400 if it has a name twice',
  async (_, send) => {
    await refusalOf(await send('input=1&input=2'));
  },
);

describe.each(Object.entries(queries))('the query of %s', (_, send) => {
  it.each(['input=%00', 'state=%FF', 'a%00=1', 'state=%ED%A0%80', 'state=%'])(
    'gets 400 if it is no text, such as %s',
    async (query) => {
      await refusalOf(await send(query));
    },
  );
});

describe('a call of the admin API', () => {
  const bad = 'a\ud800b';

  it('gets bad_input for a lone surrogate or NUL in a reason, reference, name or search, and moves no money', async () => {
    const { admin } = server;
    const { partnerId } = partner;
    const move = { partnerId, mode: 'test' as const, amount: 6_000 };
    const before = await admin.wallets.show.query({ partnerId, mode: 'test' });
    for (const text of [bad, 'a\0b']) {
      const calls = [
        admin.wallets.fund.mutate({ ...move, reference: text }),
        admin.wallets.adjust.mutate({ ...move, reason: text }),
        admin.wallets.adjust.mutate({ ...move, reason: 'r', reference: text }),
        admin.wallets.refund.mutate({ entryId: 'txn_1', reason: text }),
        admin.partners.create.mutate({ name: text }),
        admin.partners.search.query({ text }),
        admin.requests.list.query({ path: `/${text}` }),
        admin.auditLog.list.query({ actor: text }),
        admin.users.find.query({ of: text }),
        admin.jobs.list.query({ name: text }),
      ];
      expect(new Set(await Promise.all(calls.map(refusal)))).toEqual(new Set(['bad_input']));
    }
    expect(await admin.wallets.show.query({ partnerId, mode: 'test' })).toEqual(before);
  });

  it('gets bad_input from a member too, also for a name in a filter', async () => {
    const calls = [
      member.api.warnings.set.mutate({ partnerId: partner.partnerId, emails: [bad] }),
      member.api.bulk.start.mutate({ action: 'resend', filter: { [bad]: 1 } } as never),
    ];
    expect(await Promise.all(calls.map(refusal))).toEqual(['bad_input', 'bad_input']);
  });
});

it.each(['gzip', 'br', 'GZIP, gzip'])(
  'a body with Content-Encoding %s gets 400 that says so',
  async (encoding) => {
    const headers = { ...jsonType, 'content-encoding': encoding };
    const answer = await post(`${server.baseUrl}/api/oauth/token`, headers, '{}');
    const named = encoding.includes(',') ? '' : ` ${encoding}`;
    expect(await answer.json()).toEqual({
      error: 'invalid_request',
      error_description: `Content-Encoding${named} is not supported: send the body without compression`,
    });
  },
);

it('a byte order mark before a body is ignored', async () => {
  const verified = await completeSession(server, partner);
  const fields = {
    grant_type: 'authorization_code',
    ...{ code: verified.code, code_verifier: verified.codeVerifier, redirect_uri: partner.redirectUri },
    ...{ client_id: partner.clientId, client_secret: partner.clientSecret },
  };
  const answer = await jsonEndpoints['token']?.(`\uFEFF${JSON.stringify(fields)}`);
  expect(answer?.status).toBe(200);
  const form = await formEndpoints['token']?.(`\uFEFF${new URLSearchParams(fields)}`);
  expect(await form?.json()).toMatchObject({ error: 'invalid_grant' });
});

it('an audit of the ledger has no finding after all these refused texts', async () => {
  expect((await exchangeCode(server, partner, await completeSession(server, partner))).status).toBe(200);
  for (const { findings } of await server.admin.wallets.audit.query({ partnerId: partner.partnerId }))
    expect(findings).toEqual([]);
});
