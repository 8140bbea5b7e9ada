import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimNames } from '../../contracts/claims.ts';
import { errorTable } from '../../contracts/errors.ts';
import { operations } from '../../contracts/openapi/operations.ts';
import { basic } from '../api/oauth/oauth-server.ts';
import { tokenForm } from '../harness/partner.ts';
import { conform } from './conformance.ts';
import { type Harness, startHarness } from './harness.ts';

const document = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, { responses: Record<string, { content?: Record<string, unknown> }> }>>;
  components: { schemas: Record<string, { properties: object; required?: string[]; enum?: string[] }> };
};
const { schemas } = document.components;

describe('the OpenAPI document', () => {
  it('lists the claims of the claim registry and the OAuth error names of the error table', () => {
    expect(Object.keys(schemas['ClaimsMap']?.properties ?? {})).toEqual(claimNames);
    expect(schemas['ClaimName']?.enum).toEqual(claimNames);
    const named = Object.values(errorTable).flatMap(({ oauth }) => oauth ?? []);
    expect(schemas['OAuthErrorCode']?.enum).toEqual([...new Set(named)]);
  });

  it('has two schemas for token and revoke requests: with and without credentials in the body', () => {
    for (const name of ['TokenRequest', 'RevokeRequest']) {
      expect(schemas[name]?.required).toEqual(expect.arrayContaining(['client_id', 'client_secret']));
      const withBasic = schemas[`${name}WithBasic`];
      expect(Object.keys(withBasic?.properties ?? {})).not.toEqual(expect.arrayContaining(['client_id']));
      expect(withBasic?.required?.length).toBeGreaterThan(0);
    }
  });

  it('lists for each error status of the OAuth endpoints the possible values of `error`', () => {
    for (const [endpoint, { errors, errorFormat }] of Object.entries(operations)) {
      if (errorFormat !== 'oauth') continue;
      const [method = '', path = ''] = endpoint.split(' ');
      for (const { code } of errors) {
        const { status, oauth } = errorTable[code];
        const described = document.paths[path]?.[method.toLowerCase()];
        const text = JSON.stringify(described?.responses[status]);
        expect(text, `${endpoint} ${status}`).toMatch(new RegExp(`"enum":\\[[^\\]]*"${oauth}"`));
      }
    }
  });
});

describe('the OpenAPI document with its schemas of answers', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness({ env: { SVC_STARTS_PER_MINUTE: '1' } });
  });
  afterAll(() => harness.stop());

  it.each(['text/html', 'application/json'])(
    'describes the answers 400 and 429 of /verify/start to a client that accepts %s',
    async (accept) => {
      const partner = await harness.partner();
      harness.next();
      expect((await harness.start(partner, { state: 'short' }, accept)).status).toBe(400);
      expect((await harness.start(partner, {}, accept)).status).toBe(302);
      const many = await harness.start(partner, {}, accept);
      expect([many.status, many.headers.get('content-type')?.startsWith(accept)]).toEqual([429, true]);
    },
  );

  it('describes the answer 401 of the token endpoint to wrong Basic credentials, with WWW-Authenticate', async () => {
    const partner = await harness.partner();
    const code = { code: 'svc_code_x', codeVerifier: 'v'.repeat(43) };
    const { client_id: id = '', client_secret: _secret, ...form } = tokenForm(partner, code);
    for (const [endpoint, fields] of [
      ['POST /api/oauth/token', form],
      ['POST /api/oauth/revoke', { token: 'x' }],
    ] as const) {
      const [method = '', path = ''] = endpoint.split(' ');
      const init = { method, headers: basic(id, 'wrong'), body: new URLSearchParams(fields) };
      const { status, headers } = await conform(endpoint, await fetch(`${harness.baseUrl}${path}`, init));
      expect([status, headers.get('www-authenticate')]).toEqual([401, 'Basic realm="svc", charset="UTF-8"']);
    }
  });
});
