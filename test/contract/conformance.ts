import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { z } from 'zod';
import { EventsResponse, WalletResponse } from '../../contracts/account.ts';
import { CheckboxResponse } from '../../contracts/checkbox.ts';
import {
  AuthorizationServerMetadata,
  OAuthError,
  OpenidConfiguration,
  OpenidTokenResponse,
  TokenResponse,
  UserinfoResponse,
} from '../../contracts/oauth.ts';
import { operations } from '../../contracts/openapi/operations.ts';
import { StorefrontResponse } from '../../contracts/storefront.ts';
import { GeneralError, SessionResponse } from '../../contracts/verification.ts';

interface Header {
  required?: boolean;
  schema: object;
}

interface Described {
  responses: Record<
    string,
    { content?: Record<string, { schema: object }>; headers?: Record<string, { $ref?: string } & Header> }
  >;
}

interface Document {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, unknown>; headers: Record<string, Header> };
  webhooks: Record<
    string,
    { post: { requestBody: { content: { 'application/json': { schema: object } } } } }
  >;
}

const definitions = '#/$defs/';
const document: Document = JSON.parse(
  readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8').replaceAll(
    '#/components/schemas/',
    definitions,
  ),
);

/** The validators of the document's schemas. To make one takes several milliseconds. */
const validators = new WeakMap<object, z.ZodType>();

/** Compiles a schema of the OpenAPI document to a validator. */
function compile(schema: object): z.ZodType {
  const { schemas } = document.components;
  const whole = { ...schema, $defs: schemas } as Parameters<typeof z.fromJSONSchema>[0];
  const validator = validators.get(schema) ?? z.fromJSONSchema(whole);
  validators.set(schema, validator);
  return validator;
}

/** The contract's schemas of successful responses. All of them refuse unknown fields. */
const contracts: Record<string, z.ZodType> = {
  'POST /api/oauth/token': z.union([TokenResponse, OpenidTokenResponse]),
  'GET /api/oauth/userinfo': UserinfoResponse,
  'GET /api/verify/hvf-session/{session_id}': SessionResponse,
  'POST /api/integrations/storefront/verify/exchange': StorefrontResponse,
  'POST /api/checkbox/resolve': CheckboxResponse,
  'GET /api/events': EventsResponse,
  'GET /api/wallet': WalletResponse,
  'GET /.well-known/oauth-authorization-server': AuthorizationServerMetadata,
  'GET /.well-known/openid-configuration': OpenidConfiguration,
};

const errorSchemas = { oauth: OAuthError, general: GeneralError };

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body if it is JSON, else undefined. */
  body: unknown;
}

/** Headers that any response may have, besides the endpoint's own. */
const ofEveryAnswer =
  /^(cache-control|connection|content-(length|type)|date|keep-alive|pragma|transfer-encoding|vary|x-content-type-options)$/;
/** Additional headers of the hosted pages. */
const ofPages =
  /^(content-security-policy|cross-origin-.*|origin-agent-cluster|referrer-policy|x-(dns-prefetch-control|download-options|frame-options|permitted-cross-domain-policies|xss-protection))$/;

function checkHeaders(
  endpoint: string,
  { status, headers }: Answer,
  described: Described['responses'],
): void {
  const known = Object.entries(described[String(status)]?.headers ?? {}).map(([name, header]) => {
    const { $ref: reference = '' } = header;
    const found = document.components.headers[reference.split('/').at(-1) ?? ''] ?? header;
    return { name: name.toLowerCase(), ...found };
  });
  for (const { name, required, schema } of known) {
    const value = headers.get(name);
    if (value === null) {
      expect(required, `${endpoint} ${status} has to have ${name}`).not.toBe(true);
      continue;
    }
    const typed = (schema as { type?: string }).type === 'integer' ? Number(value) : value;
    expect(
      compile(schema).safeParse(typed).error,
      `${endpoint} ${status}: ${name}: ${value}`,
    ).toBeUndefined();
  }
  const names = new Set(known.map(({ name }) => name));
  const unknown = [...headers.keys()].filter((name) => !names.has(name) && !ofEveryAnswer.test(name));
  const isPages = endpoint === 'GET /verify/start';
  expect(
    unknown.filter((name) => !isPages || !ofPages.test(name)),
    `${endpoint} ${status} has headers that the document does not know`,
  ).toEqual([]);
}

function checkBody(endpoint: string, { status, headers, text, body }: Answer): void {
  const operation = operations[endpoint as keyof typeof operations];
  const [method = '', path = ''] = endpoint.split(' ');
  const responses = document.paths[path]?.[method.toLowerCase()]?.responses ?? {};
  const described = responses[String(status)];
  if (!operation || !described)
    throw new Error(`${endpoint} answered ${status}, which the document does not know`);
  checkHeaders(endpoint, { status, headers, text, body }, responses);
  if (!described.content) {
    expect(text, `${endpoint} ${status} has no body`).toBe('');
    return;
  }
  const [type = ''] = headers.get('content-type')?.split(';') ?? [];
  const content = described.content[type];
  if (!content) throw new Error(`${endpoint} ${status} is ${type}, which the document does not know`);
  const faults = compile(content.schema).safeParse(type === 'text/html' ? text : body).error;
  expect(faults, `${endpoint} ${status} against the document`).toBeUndefined();
  if (type === 'text/html') {
    expect(text).toMatch(/^<!doctype html>/i);
    return;
  }
  const contract = status === 200 ? contracts[endpoint] : errorSchemas[operation.errorFormat];
  expect(contract?.safeParse(body).error, `${endpoint} ${status} against the contract`).toBeUndefined();
}

/** Reads a response, and checks it against the contract's schemas and the OpenAPI document. */
export async function conform(
  endpoint: string,
  response: Pick<Response, 'status' | 'headers' | 'text'>,
): Promise<Answer> {
  const { status, headers } = response;
  const text = await response.text();
  const isJson = headers.get('content-type')?.startsWith('application/json') ?? false;
  const answer: Answer = { status, headers, text, body: isJson ? JSON.parse(text) : undefined };
  checkBody(endpoint, answer);
  const isPublic = endpoint.includes(' /.well-known/');
  expect(headers.get('access-control-allow-origin')).toBe(isPublic && status === 200 ? '*' : null);
  if (endpoint.includes(' /api/')) expect(headers.get('cache-control')).toBe('no-store');
  return answer;
}

/** Checks the body of a webhook against the OpenAPI document. */
export function conformEvent(type: string, body: unknown): void {
  const schema = document.webhooks[type]?.post.requestBody.content['application/json'].schema;
  if (!schema) throw new Error(`docs/openapi.json has no event ${type}: run npm run update:docs`);
  expect(compile(schema).safeParse(body).error).toBeUndefined();
}
