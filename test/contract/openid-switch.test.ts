import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Code, TestPartner } from '../harness/partner.ts';
import type { Answer } from './conformance.ts';
import { type Harness, startHarness } from './harness.ts';

let harness: Harness;
/** Two clients that differ in the switch of OpenID Connect only. */
let clients: { off: TestPartner; on: TestPartner };
beforeAll(async () => {
  harness = await startHarness();
  const partner = (openid: boolean) => harness.partner({ client: { openid, defaultClaims: ['country'] } });
  clients = { off: await partner(false), on: await partner(true) };
});
afterAll(() => harness.stop());

/** What differs between two answers anyway: ids, times, secrets and the length of tokens. */
const variable = /(?:ses|txn|req|cli)_[0-9A-Za-z]+|eyJ[\w.-]+|\d{4}-\d\d-\d\dT[\d:.]+Z|[\w-]{43}/g;
const notCompared = new Set(['date', 'x-request-id', 'content-length', 'etag', 'keep-alive', 'connection']);

const shown = ({ status, headers, text }: Answer) => ({
  status,
  headers: [...headers]
    .filter(([name]) => !notCompared.has(name))
    .map(([name, value]) => [name, value.replace(variable, '*')]),
  text: text.replace(variable, '*'),
});

async function expectSame(ask: (by: TestPartner) => Promise<Answer>) {
  const [off, on] = [shown(await ask(clients.off)), shown(await ask(clients.on))];
  expect(on).toEqual(off);
  return off.status;
}

/** Every parameter of OpenID Connect, right and wrong, and every fault of the contract. */
const starts: Record<string, string | undefined>[] = [
  {},
  ...['client_id', 'redirect_uri', 'state', 'scope', 'code_challenge', 'code_challenge_method'].map(
    (name) => ({ [name]: undefined }),
  ),
  ...[{ state: 'short' }, { scope: 'shoe_size' }, { scope: 'age_21_plus' }, { scope: 'openid_ age_18_plus' }],
  ...[{ code_challenge: 'x' }, { code_challenge_method: 'plain' }, { redirect_uri: 'https://evil.example/' }],
  ...[{ response_type: 'token' }, { response_type: 'code' }, { response_mode: 'form_post' }],
  ...[
    { nonce: 'n' },
    { nonce: 'x'.repeat(600) },
    { prompt: 'none' },
    { prompt: 'none login' },
    { max_age: 'x' },
  ],
  ...[
    { max_age: '-1' },
    { request: 'eyJ.e30.' },
    { request_uri: 'https://a.example' },
    { registration: '{}' },
  ],
  ...[{ id_token_hint: 'x' }, { acr_values: '1' }, { claims: '{}' }, { display: 'page' }],
];

describe('a client that speaks OpenID Connect, without the scope openid', () => {
  it.each(starts)('gets the answer of every other client to a start with %j', async (changes) => {
    for (const accept of ['application/json', 'text/html'])
      await expectSame((by) => harness.start(by, { state: 's'.repeat(22), ...changes }, accept));
  });

  it('gets the answers of every other client at the token endpoint', async () => {
    harness.next();
    const codes = new Map<TestPartner, Code>();
    for (const by of Object.values(clients))
      codes.set(by, await harness.walkPages(by, 'adult', 'age_18_plus country shoe_size'));
    const exchange = (changes: Record<string, string | undefined>) => (by: TestPartner) => {
      const code = codes.get(by);
      if (!code) throw new Error('each client has a code');
      return harness.exchange(by, code, changes);
    };
    const statuses: number[] = [];
    for (const changes of [
      { code: undefined },
      { code_verifier: 'v'.repeat(43) },
      { redirect_uri: 'http://localhost:9999/other' },
      { client_secret: 'wrong' },
      {},
      {},
    ])
      statuses.push(await expectSame(exchange(changes)));
    expect(statuses).toEqual([400, 400, 400, 401, 200, 400]);
  });
});
