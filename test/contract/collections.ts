import { readFileSync } from 'node:fs';
import { personNames } from '../../server/sessions/sources/sandbox.ts';
import { type Schema, schemaOf } from '../sdk/contract-types.ts';

interface Operation {
  summary: string;
  tags: string[];
  security?: Record<string, unknown>[];
  parameters?: { name: string; in: string; required?: boolean }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}
const document = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
};

type Pair = [name: string, value: string];

/** A request in a form of neither Postman nor Bruno. `{{name}}` is a variable in both programs. */
export interface CollectionRequest {
  name: string;
  method: string;
  /** The path after the base URL. */
  path: string;
  query: Pair[];
  headers: Pair[];
  form?: Pair[];
  json?: string;
  /** Whether a script signs the body before it is sent (interface 5.4). */
  signed: boolean;
}

/** Fields with a fixed value. All others are variables with the field's name. */
const fixed: Record<string, string> = {
  grant_type: 'authorization_code',
  code_challenge_method: 'S256',
  token: '{{access_token}}',
  'x-svc-integration-id': '{{integration_id}}',
  'x-svc-timestamp': '{{timestamp}}',
  'x-svc-signature': 'sha256={{signature}}',
  'idempotency-key': '{{idempotency_key}}',
};
const variableOf = (name: string): string => fixed[name] ?? `{{${name}}}`;
const pairOf = (name: string): Pair => [name, variableOf(name)];

/** Variables with their first values. Verifier and challenge are from RFC 7636, appendix B. */
export const variables: readonly Pair[] = [
  ['base_url', 'http://localhost:8080'],
  ...(['client_id', 'client_secret', 'api_key', 'integration_id', 'integration_secret'] as const).map(
    (name): Pair => [name, ''],
  ),
  ['redirect_uri', 'http://localhost:3000/callback'],
  ['scope', 'age_18_plus country'],
  ['state', 'a-state-of-a-test'],
  ['code_verifier', 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'],
  ['code_challenge', 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'],
  ...(['code', 'access_token', 'session_id', 'enrollment_id'] as const).map((name): Pair => [name, '']),
  ['shop_domain', 'shop.example'],
  ['customer_id', '40217'],
  ['idempotency_key', 'order-40217'],
  ['timestamp', ''],
  ['signature', ''],
];

/** Returns a script that signs a body. Both programs have `crypto-js`, but read and write variables differently. */
export const signing = (get: string, set: string, body: string): string[] => [
  "const { HmacSHA256 } = require('crypto-js');",
  'const timestamp = String(Math.floor(Date.now() / 1000));',
  `const message = [${get}('integration_id'), timestamp, ${body}].join('.');`,
  `${set}('timestamp', timestamp);`,
  `${set}('signature', HmacSHA256(message, ${get}('integration_secret')).toString());`,
];

const bearerOf = ({ security = [] }: Operation): string | undefined => {
  const names = security.flatMap(Object.keys);
  if (names.some((name) => /apikey/i.test(name))) return '{{api_key}}';
  return names.some((name) => /token/i.test(name)) ? '{{access_token}}' : undefined;
};

function requestOf(path: string, method: string, operation: Operation): CollectionRequest {
  const { parameters = [], requestBody, summary } = operation;
  const content = requestBody?.content ?? {};
  const [schema] = Object.values(content).map((one) => one.schema.anyOf?.[0] ?? one.schema);
  const body = schema?.$ref ? schemaOf(schema.$ref.split('/').at(-1) ?? '') : schema;
  const required = body?.required ?? [];
  const isForm = 'application/x-www-form-urlencoded' in content;
  const headers = parameters
    .filter((one) => one.in === 'header' && one.required)
    .map(({ name }) => pairOf(name));
  const bearer = bearerOf(operation);
  const lists = (name: string) => body?.properties?.[name]?.type === 'array';
  const json = `{${required.map((name) => `"${name}":${lists(name) ? '["age_18_plus"]' : `"${variableOf(name)}"`}`).join(',')}}`;
  return {
    name: summary,
    method: method.toUpperCase(),
    path: path.replaceAll(/\{(\w+)\}/g, '{{$1}}'),
    query: parameters.filter((one) => one.in === 'query' && one.required).map(({ name }) => pairOf(name)),
    headers: [
      ...headers,
      ...(bearer ? [['Authorization', `Bearer ${bearer}`] as Pair] : []),
      ...(body && !isForm ? [['Content-Type', 'application/json'] as Pair] : []),
    ],
    ...(body && isForm ? { form: required.map(pairOf) } : {}),
    ...(body && !isForm ? { json } : {}),
    signed: headers.some(([name]) => name === 'x-svc-signature'),
  };
}

/** Returns a request for every operation of the document. The start has one for each sandbox user. */
export function collectionRequests(): CollectionRequest[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const request = requestOf(path, method, operation);
      if (path !== '/verify/start') return [request];
      return personNames.map((person) => ({ ...request, name: `Start, then choose ${person}` }));
    }),
  );
}

const objectOf = ([key, value]: Pair) => ({ key, value });

/** Returns the text of a Postman collection (format 2.1). */
export function renderPostman(requests: readonly CollectionRequest[]): string {
  const item = requests.map(({ name, method, path, query, headers, form, json, signed }) => ({
    name,
    ...(signed && {
      event: [
        {
          listen: 'prerequest',
          script: {
            type: 'text/javascript',
            exec: signing(
              'pm.collectionVariables.get',
              'pm.collectionVariables.set',
              'pm.variables.replaceIn(pm.request.body.raw)',
            ),
          },
        },
      ],
    }),
    request: {
      method,
      header: headers.map(objectOf),
      url: {
        raw: `{{base_url}}${path}${query.length > 0 ? `?${query.map((pair) => pair.join('=')).join('&')}` : ''}`,
        host: ['{{base_url}}'],
        path: path.split('/').slice(1),
        query: query.map(objectOf),
      },
      ...(form && { body: { mode: 'urlencoded', urlencoded: form.map(objectOf) } }),
      ...(json && { body: { mode: 'raw', raw: json } }),
    },
  }));
  const schema = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';
  const collection = { info: { name: 'SVC Gateway 0.8.0', schema }, item, variable: variables.map(objectOf) };
  return `${JSON.stringify(collection, null, 2)}\n`;
}

const block = (name: string, lines: readonly string[]): string =>
  `${name} {\n${lines.map((line) => `  ${line}`).join('\n')}\n}\n`;
const pairs = (list: readonly Pair[]): string[] => list.map((pair) => pair.join(': '));

/** Returns the file of a Bruno collection for one request. */
export function renderBruno(request: CollectionRequest, seq: number): string {
  const { name, method, path, query, headers, form, json, signed } = request;
  const body = form ? 'formUrlEncoded' : json ? 'json' : 'none';
  const search = query.length > 0 ? `?${query.map((pair) => pair.join('=')).join('&')}` : '';
  return [
    block('meta', [`name: ${name}`, 'type: http', `seq: ${seq}`]),
    block(method.toLowerCase(), [`url: {{base_url}}${path}${search}`, `body: ${body}`, 'auth: none']),
    ...(query.length > 0 ? [block('params:query', pairs(query))] : []),
    ...(headers.length > 0 ? [block('headers', pairs(headers))] : []),
    ...(form ? [block('body:form-urlencoded', pairs(form))] : []),
    ...(json ? [block('body:json', [json])] : []),
    ...(signed
      ? [
          block('script:pre-request', [
            `const body = bru.interpolate(${JSON.stringify(json)});`,
            'req.setBody(body);',
            // `getVar` does not find variables of the environment.
            ...signing('bru.getEnvVar', 'bru.setVar', 'body'),
          ]),
        ]
      : []),
  ].join('\n');
}
