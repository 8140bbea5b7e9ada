import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { z } from 'zod';
import { CheckboxResponse } from '../../contracts/checkbox.ts';
import {
  AuthorizationServerMetadata,
  OAuthError,
  TokenResponse,
  UserinfoResponse,
} from '../../contracts/oauth.ts';
import { operations } from '../../contracts/openapi/operations.ts';
import { StorefrontResponse } from '../../contracts/storefront.ts';
import { GeneralError, SessionResponse } from '../../contracts/verification.ts';

interface Described {
  responses: Record<
    string,
    { content?: Record<string, { schema: { $ref?: string } }>; headers?: Record<string, unknown> }
  >;
}

interface Document {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, unknown> };
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

/** A schema of the document as it is written there, made into one that checks. */
const compile = (schema: object) =>
  z.fromJSONSchema({ ...schema, $defs: document.components.schemas } as Parameters<
    typeof z.fromJSONSchema
  >[0]);

/** The contract's own schemas of successes; all of them refuse unknown fields. */
const contracts: Record<string, z.ZodType> = {
  'POST /api/oauth/token': TokenResponse,
  'GET /api/oauth/userinfo': UserinfoResponse,
  'GET /api/verify/hvf-session/{session_id}': SessionResponse,
  'POST /api/integrations/storefront/verify/exchange': StorefrontResponse,
  'POST /api/checkbox/resolve': CheckboxResponse,
  'GET /.well-known/oauth-authorization-server': AuthorizationServerMetadata,
};

const errorSchemas = { oauth: OAuthError, general: GeneralError };

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** Parsed JSON; undefined for anything else. */
  body: unknown;
}

function checkBody(endpoint: string, { status, text, body }: Answer): void {
  const operation = operations[endpoint as keyof typeof operations];
  const [method = '', path = ''] = endpoint.split(' ');
  const described = document.paths[path]?.[method.toLowerCase()]?.responses[String(status)];
  if (!operation || !described)
    throw new Error(`${endpoint} answered ${status}, which the document does not know`);
  const content = described.content?.['application/json'];
  if (!content) {
    expect(text, `${endpoint} ${status} has no body`).toBe('');
    return;
  }
  const faults = compile(content.schema).safeParse(body).error;
  expect(faults, `${endpoint} ${status} against the document`).toBeUndefined();
  const contract = status === 200 ? contracts[endpoint] : errorSchemas[operation.errorFormat];
  expect(contract?.safeParse(body).error, `${endpoint} ${status} against the contract`).toBeUndefined();
}

/** Reads an answer of an endpoint and holds it against the contract's schemas and the OpenAPI document. */
export async function conform(endpoint: string, response: Response): Promise<Answer> {
  const { status, headers } = response;
  const text = await response.text();
  const isJson = headers.get('content-type')?.startsWith('application/json') ?? false;
  const answer: Answer = { status, headers, text, body: isJson ? JSON.parse(text) : undefined };
  checkBody(endpoint, answer);
  expect(headers.get('x-request-id')).toMatch(/^req_/);
  expect(headers.get('access-control-allow-origin')).toBeNull();
  if (endpoint.includes(' /api/')) expect(headers.get('cache-control')).toBe('no-store');
  if (status === 429 || (status === 503 && endpoint.includes('/api/')))
    expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  return answer;
}

/** Holds the body of a webhook against the document. */
export function conformEvent(type: string, body: unknown): void {
  const schema = document.webhooks[type]?.post.requestBody.content['application/json'].schema;
  if (!schema) throw new Error(`the document has no event ${type}`);
  expect(compile(schema).safeParse(body).error).toBeUndefined();
}
