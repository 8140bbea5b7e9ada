import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basic } from '../api/oauth/oauth-server.ts';
import { type Shop, sign } from '../api/storefront/shop.ts';
import { redirectUri, type TestPartner } from '../harness/partner.ts';
import { type Answer, conform } from './conformance.ts';
import { type Harness, startHarness } from './harness.ts';
import { type Schema, valuesOf } from './schema-arbitrary.ts';

interface Parameter {
  in: 'query' | 'header' | 'path';
  name: string;
  required?: boolean;
  schema: Schema;
}

interface Operation {
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

const document: {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
} = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'));
const { schemas } = document.components;

let harness: Harness;
let partner: TestPartner;
let shop: Shop;
let token: string;
beforeAll(async () => {
  harness = await startHarness();
  partner = await harness.partner();
  shop = await harness.shop();
  token = await harness.token(partner);
});
afterAll(() => harness.stop());

type Fields = Record<string, unknown>;

/** A request that conforms to the OpenAPI document. */
interface Conforming {
  query: Fields;
  header: Fields;
  path: Fields;
  /** The content type, if there is a body. */
  media: string | undefined;
  body: Fields;
}

/** How a partner completes a generated request, and the status and error that must answer it. */
interface Caller {
  query?: (generated: Fields) => Fields;
  header?: (bytes: string, body: Fields) => Record<string, string>;
  body?: (generated: Fields) => Fields;
  answers: { status: number; error?: string };
}

const isBasic = ({ client_id: id }: Fields) => id === undefined;
/** Adds valid credentials: in a header if the generated body has none, else in the body. */
const client: Pick<Caller, 'header' | 'body'> = {
  body: (generated) =>
    isBasic(generated)
      ? generated
      : { ...generated, client_id: partner.clientId, client_secret: partner.clientSecret },
  header: (_bytes, body): Record<string, string> =>
    isBasic(body) ? basic(partner.clientId, partner.clientSecret) : {},
};

const callers: Record<string, Caller> = {
  'GET /verify/start': {
    query: ({ scope, ...generated }) => ({
      ...generated,
      client_id: partner.clientId,
      redirect_uri: redirectUri,
      scope: `age_18_plus ${String(scope).slice(0, 2_000)}`,
    }),
    answers: { status: 302 },
  },
  'POST /api/oauth/token': { ...client, answers: { status: 400, error: 'invalid_grant' } },
  'GET /api/oauth/userinfo': {
    header: () => ({ authorization: `Bearer ${token}` }),
    answers: { status: 200 },
  },
  'POST /api/oauth/revoke': { ...client, answers: { status: 200 } },
  'GET /api/verify/hvf-session/{session_id}': {
    header: () => ({ authorization: `Bearer ${partner.apiKey}` }),
    answers: { status: 404 },
  },
  'POST /api/integrations/storefront/verify/exchange': {
    header: (bytes) => sign(shop, bytes, harness.clock.now()),
    answers: { status: 404 },
  },
  'POST /api/checkbox/resolve': {
    header: () => ({ authorization: `Bearer ${partner.apiKey}` }),
    answers: { status: 404 },
  },
  'GET /api/events': {
    header: () => ({ authorization: `Bearer ${partner.apiKey}` }),
    query: ({ after: _after, ...generated }) => generated,
    answers: { status: 200 },
  },
  'GET /api/wallet': {
    header: () => ({ authorization: `Bearer ${partner.apiKey}` }),
    answers: { status: 200 },
  },
  'GET /.well-known/oauth-authorization-server': { answers: { status: 200 } },
  'GET /.well-known/openid-configuration': { answers: { status: 200 } },
  'GET /.well-known/jwks.json': { answers: { status: 200 } },
};

const plainText = fc.string({ maxLength: 50 });

function conformingRequests({ parameters = [], requestBody }: Operation): fc.Arbitrary<Conforming> {
  const fieldsIn = (place: Parameter['in']) => {
    const own = parameters.filter((one) => one.in === place);
    const members = own.map(({ name, schema }) => [name, valuesOf(schema, schemas, plainText)]);
    const required = own.filter((one) => one.required).map(({ name }) => name);
    return fc.record(Object.fromEntries(members) as Record<string, fc.Arbitrary<unknown>>, {
      requiredKeys: required,
    });
  };
  const bodies = Object.entries(requestBody?.content ?? {}).map(([media, { schema }]) => {
    const unknown = media === 'application/json' ? fc.jsonValue() : plainText;
    return fc.record({ media: fc.constant(media), body: valuesOf(schema, schemas, unknown) });
  });
  const body = bodies.length > 0 ? fc.oneof(...bodies) : fc.constant({ media: undefined, body: {} });
  return fc
    .tuple(fieldsIn('query'), fieldsIn('header'), fieldsIn('path'), body)
    .map(([query, header, path, sent]) => ({
      query,
      header,
      path,
      ...(sent as typeof sent & { body: Fields }),
    }));
}

const asText = (fields: Fields) =>
  Object.fromEntries(Object.entries(fields).map(([name, one]) => [name, String(one)]));

async function send(endpoint: string, request: Conforming): Promise<Answer> {
  const [method = '', template = ''] = endpoint.split(' ');
  const caller = callers[endpoint];
  const body = caller?.body?.(request.body) ?? request.body;
  const query = caller?.query?.(request.query) ?? request.query;
  const isJson = request.media === 'application/json';
  const bytes = isJson ? JSON.stringify(body) : new URLSearchParams(asText(body)).toString();
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(request.path[name])),
  );
  const search = new URLSearchParams(asText(query)).toString();
  const url = `${harness.baseUrl}${path}${search && `?${search}`}`;
  // A size limit that the document states only in its description.
  fc.pre(Buffer.byteLength(bytes) <= 64 * 1024 && url.length < 15 * 1024);
  // HTTP clients normalise such a path to another one.
  fc.pre(new URL(url).pathname.split('/').length === template.split('/').length && !/\/\.{0,2}$/.test(path));
  const headers = {
    ...asText(request.header),
    ...(request.media && { 'content-type': request.media }),
    ...caller?.header?.(bytes, body),
  };
  const init = { method, headers, redirect: 'manual', ...(request.media && { body: bytes }) } as const;
  return conform(endpoint, await fetch(url, init));
}

const endpoints = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    endpoint: `${method.toUpperCase()} ${path}`,
    operation,
  })),
);

describe('a request generated from the OpenAPI document', () => {
  const cases = endpoints.map(({ endpoint, operation }) => [endpoint, operation] as const);

  it.each(cases)('is never answered as malformed by %s', async (endpoint, operation) => {
    const { answers } = callers[endpoint] ?? {};
    if (!answers) throw new Error(`add ${endpoint} to the callers of this file`);
    // All limits have empty windows, and each admits more requests a minute than this test sends.
    harness.next();
    await fc.assert(
      fc.asyncProperty(conformingRequests(operation), async (request) => {
        const { status, body } = await send(endpoint, request);
        expect({ status, ...(body as object | undefined) }).toMatchObject(answers);
      }),
      { numRuns: 50 },
    );
  });

  it('occurs at the token endpoint as form and JSON, with and without Basic credentials, sometimes with long text', () => {
    const { operation } = endpoints.find(({ endpoint }) => endpoint === 'POST /api/oauth/token') ?? {};
    const sample = fc.sample(conformingRequests(operation ?? {}), { numRuns: 300, seed: 7 });
    const kinds = new Set(sample.map(({ media, body }) => `${media} ${isBasic(body)}`));
    expect(kinds.size).toBe(4);
    const isLong = ({ body }: Conforming) => String(body['redirect_uri']).length > 2_048;
    expect(sample.some(isLong)).toBe(true);
  });
});
