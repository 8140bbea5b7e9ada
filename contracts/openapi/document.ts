import { webhooks } from './events.ts';
import { headers } from './headers.ts';
import { type Operation, tags } from './operation.ts';
import { errorResponses, type Json, successResponse } from './responses.ts';

/** The parts of an OpenAPI document that this code changes. */
export interface Document extends Json {
  paths?: Record<string, Record<string, Json>>;
  components?: { schemas?: Json };
}

const securitySchemes = {
  clientBasic: {
    type: 'http',
    scheme: 'basic',
    description: 'client_id and client_secret, form-url-encoded (RFC 6749 2.3.1), instead of in the body',
  },
  accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'An access token' },
  apiKey: { type: 'http', scheme: 'bearer', description: 'A partner’s API key, svc_test_… or svc_live_…' },
  integrationSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'X-SVC-Signature',
    description:
      '`sha256=` and the lowercase hex HMAC-SHA256 of `{integration_id}.{timestamp}.{raw body}` under the integration secret',
  },
};

/** Returns the parts of the document before the endpoints. @param baseUrl the base URL of this server */
export function documentFrame(baseUrl: string) {
  return {
    openapi: '3.1.0',
    info: {
      title: 'SVC Gateway',
      version: '0.8.0',
      description:
        'Hosted identity verification: claims instead of documents. Interface contract 0.8.0. Retry a 429 and a 503 after the seconds in `Retry-After`, a 500 after 1 s and then after 2 s; no other 4xx. What is not HTTP is answered 400, 408 or 431 in the general format. A request body has at most 64 KiB, a form at most 32 fields, and request line and headers together 16 KiB. Text is well-formed Unicode without U+0000; other text is a 400.',
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [
      {
        url: '{base_url}',
        description: 'This environment',
        variables: { base_url: { default: baseUrl, description: 'Base address of the environment' } },
      },
    ],
    tags,
    components: { securitySchemes, headers },
    webhooks,
  };
}

/** Describes the body of a request. `generated` has one media type, whose schema is that of all accepted media types. */
function requestBody({ consumes = [], request, withBasic }: Operation, generated: unknown): Json {
  const [media = {}] = Object.values((generated as { content: Record<string, Json> }).content);
  const described = withBasic
    ? {
        schema: { anyOf: [media['schema'], { $ref: `#/components/schemas/${withBasic.schema}` }] },
        examples: {
          'credentials in the body': { value: request },
          'with HTTP Basic': { value: withBasic.request },
        },
      }
    : { ...media, example: request };
  return { required: true, content: Object.fromEntries(consumes.map((type) => [type, described])) };
}

/** Describes an endpoint with the generated schemas, and with the texts and examples of the table. */
export function describeOperation(operation: Operation, generated: Json): Json {
  const { operationId, summary, description, tag, security, success } = operation;
  const { requestBody: body, responses = {}, parameters } = generated;
  const generatedSuccess = (responses as Record<string, Json>)[String(success.status)];
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    security,
    ...(parameters ? { parameters } : {}),
    ...(body ? { requestBody: requestBody(operation, body) } : {}),
    responses: {
      [success.status]: successResponse(operation, generatedSuccess),
      ...errorResponses(operation),
      ...(operation.otherwise ? { default: { description: operation.otherwise } } : {}),
    },
  };
}
