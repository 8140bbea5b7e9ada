import { readFileSync } from 'node:fs';
import { eventSchemas } from '../../contracts/events.ts';
import { reasons } from '../../contracts/reasons.ts';

/** The part of JSON Schema that the OpenAPI document uses. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  description?: string;
}

/** The schemas of the events, in the order of their names. */
export const eventTypes = Object.values(eventSchemas).map((schema) => schema.meta()?.id ?? '');

/** The schemas that a partner's program reads or sends, in the order of the output. */
export const shown = [
  ...(['ClaimName', 'ClaimsMap', 'ClaimsMeta', 'TokenResponse'] as const),
  ...(['OpenidTokenResponse', 'UserinfoResponse'] as const),
  ...(['SessionResponse', 'StorefrontRequest', 'StorefrontResponse'] as const),
  ...eventTypes,
  ...(['OAuthErrorCode', 'OAuthError', 'GeneralError'] as const),
];

const document = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')) as {
  components: { schemas: Record<string, Schema> };
};

/** Returns a schema of the OpenAPI document. @throws Error if the document has no such schema */
export function schemaOf(name: string): Schema {
  const schema = document.components.schemas[name];
  if (!schema) throw new Error(`docs/openapi.json has no schema ${name}`);
  return schema;
}

export const referenceOf = ($ref: string): string => $ref.split('/').at(-1) ?? '';

/** Whether a new session may succeed, by the reason in the redirect. */
export const reasonRows: [reason: string, retryable: boolean][] = Object.entries(reasons).map(
  ([reason, { retryable }]) => [reason, retryable],
);

export const generatedBy =
  'Generated from docs/openapi.json and the tables of contracts/: UPDATE_DOCS=1 npx vitest run test/sdk/contract-types.test.ts';
