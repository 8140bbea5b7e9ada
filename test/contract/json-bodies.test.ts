import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fields, type Shop, sign } from '../api/storefront/shop.ts';
import { type TestPartner, tokenForm } from '../harness/partner.ts';
import { type Answer, conform } from './conformance.ts';
import { type Harness, startHarness } from './harness.ts';

let harness: Harness;
let partner: TestPartner;
let shop: Shop;
beforeAll(async () => {
  harness = await startHarness();
  partner = await harness.partner();
  shop = await harness.shop();
});
afterAll(() => harness.stop());

const unknownCode = { code: 'svc_code_x', codeVerifier: 'v'.repeat(43), state: '', end: new URL('http://x') };

/** An endpoint that accepts JSON, with a valid body and the headers of a call. */
interface JsonEndpoint {
  endpoint: string;
  fields: () => Record<string, unknown>;
  headers?: (body: string) => Record<string, string>;
  refusal: (text: string) => unknown;
}
const oauthRefusal = (text: string) => ({ error: 'invalid_request', error_description: text });
const generalRefusal = (text: string) => ({ success: false, error: text });

const endpoints: JsonEndpoint[] = [
  {
    endpoint: 'POST /api/oauth/token',
    fields: () => tokenForm(partner, unknownCode),
    refusal: oauthRefusal,
  },
  {
    endpoint: 'POST /api/oauth/revoke',
    fields: () => ({ token: 'x', client_id: partner.clientId, client_secret: partner.clientSecret }),
    refusal: oauthRefusal,
  },
  {
    endpoint: 'POST /api/integrations/storefront/verify/exchange',
    fields: () => fields('svc_code_x'),
    headers: (body) => sign(shop, body, harness.clock.now()),
    refusal: generalRefusal,
  },
  {
    endpoint: 'POST /api/checkbox/resolve',
    fields: () => ({ enrollment_id: 'enr_x', claims: ['country'] }),
    headers: () => ({ authorization: `Bearer ${partner.apiKey}`, 'idempotency-key': 'one' }),
    refusal: generalRefusal,
  },
];

describe.each(endpoints.map((each) => [each.endpoint, each] as const))(
  'a JSON body sent to %s',
  (endpoint, { fields, headers, refusal }) => {
    async function send(body: string): Promise<Answer> {
      const [method = '', path = ''] = endpoint.split(' ');
      const given = { 'content-type': 'application/json', ...headers?.(body) };
      return conform(endpoint, await fetch(`${harness.baseUrl}${path}`, { method, headers: given, body }));
    }
    /** Returns a valid body with `more` as its last members. */
    const bodyWith = (more: string) => `${JSON.stringify(fields()).slice(0, -1)},${more}}`;

    it('is accepted with unknown members', async () => {
      const { status, body } = await send(bodyWith('"more":{"n":[1,{"n":2}]},"also":null'));
      expect([status, body]).not.toEqual([400, expect.objectContaining({ error: 'invalid_request' })]);
      expect(status).not.toBe(500);
    });

    it('gets 400 if it repeats a member that the endpoint reads, and the error names the member', async () => {
      for (const [name, value] of Object.entries(fields())) {
        const answer = await send(bodyWith(`${JSON.stringify(name)}:${JSON.stringify(value)}`));
        expect(answer).toMatchObject({ status: 400, body: refusal(`${name} must be given once`) });
      }
    });

    it('gets 400 if it repeats any member at any depth, and the error names the member', async () => {
      for (const more of ['"n":1,"n":1', '"more":[{"deep":{"n":1,"n":2}}]', '"n":1,"\\u006e":2']) {
        expect(await send(bodyWith(more))).toMatchObject({
          status: 400,
          body: refusal('n must be given once'),
        });
      }
    });

    it('is answered with a status below 500 even if it has 30,000 nested levels', async () => {
      const depth = 30_000;
      const nested = `${'['.repeat(depth)}${']'.repeat(depth)}`;
      for (const body of [nested, bodyWith(`"more":${nested}`), `{"code":${nested},"claims":${nested}}`])
        expect((await send(body)).status).toBeLessThan(500);
    });
  },
);

it('a storefront call with a wrong signature is answered with 401, even if its JSON repeats a member', async () => {
  const body = '{"code":"a","code":"b"}';
  const { status } = await harness.storefront(shop, {}, { 'x-svc-signature': `sha256=${'0'.repeat(64)}` });
  const path = '/api/integrations/storefront/verify/exchange';
  const headers = { 'content-type': 'application/json', ...sign(shop, `${body} `, harness.clock.now()) };
  const answer = await fetch(`${harness.baseUrl}${path}`, { method: 'POST', headers, body });
  expect([status, answer.status]).toEqual([401, 401]);
});
