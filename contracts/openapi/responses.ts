import { errorTable, generalText } from '../errors.ts';
import { headerReference } from './headers.ts';
import type { Operation, RefusedAnswer } from './operation.ts';

export type Json = Record<string, unknown>;

const schemaOf = { oauth: 'OAuthError', general: 'GeneralError' } as const;
const requestId = { 'X-Request-Id': headerReference('RequestId') };

const textOf = ({ code, text }: RefusedAnswer) => text ?? generalText(code);

function exampleOf(refusal: RefusedAnswer, format: Operation['errorFormat']): Json {
  const { text: standard, oauth } = errorTable[refusal.code];
  return format === 'oauth'
    ? { error: oauth, error_description: refusal.text ?? standard }
    : { success: false, error: textOf(refusal) };
}

/** Returns the schema of a refusal's body, with the values of `error` at this endpoint and status. */
function schemaFor(refusals: readonly RefusedAnswer[], { errorFormat, exactTexts }: Operation): Json {
  const reference = { $ref: `#/components/schemas/${schemaOf[errorFormat]}` };
  const isOAuth = errorFormat === 'oauth';
  // In the general format, `error` is a text for people, which only some endpoints fix.
  if (!isOAuth && !exactTexts) return reference;
  const values = refusals.map((refusal) => (isOAuth ? errorTable[refusal.code].oauth : textOf(refusal)));
  const error = { type: 'string', enum: [...new Set(values)] };
  return { allOf: [reference, { type: 'object', properties: { error } }] };
}

function headersFor(refusals: readonly RefusedAnswer[], status: number, { challenge }: Operation): Json {
  const hasRetryAfter = refusals.some(({ retryAfter }) => retryAfter !== undefined);
  const hasSpendLimit = refusals.some(({ spendLimit }) => spendLimit);
  return {
    ...requestId,
    'X-SVC-Error': headerReference('ErrorCode'),
    Link: headerReference('Help'),
    ...(status === 401 && challenge && { 'WWW-Authenticate': headerReference(challenge) }),
    ...(hasRetryAfter && { 'Retry-After': headerReference('RetryAfter') }),
    ...(hasSpendLimit && {
      'RateLimit-Policy': headerReference('RateLimitPolicy'),
      RateLimit: headerReference('RateLimit'),
    }),
  };
}

function errorResponse(refusals: readonly RefusedAnswer[], status: number, operation: Operation): Json {
  const { errorFormat, pages } = operation;
  const examples: Json = {};
  for (const [index, refusal] of refusals.entries()) {
    const { code } = refusal;
    // Examples need names of their own, but two refusals of one status may have the same code.
    const name = code in examples ? `${code}_${index + 1}` : code;
    examples[name] = { value: exampleOf(refusal, errorFormat) };
  }
  const codes = new Set(refusals.map(({ code }) => `\`${code}\``));
  return {
    description: `${[...codes].join(', ')}.`,
    headers: headersFor(refusals, status, operation),
    content: {
      'application/json': { schema: schemaFor(refusals, operation), examples },
      ...(pages && { 'text/html': { schema: { type: 'string', description: 'A page for the user' } } }),
    },
  };
}

export function errorResponses(operation: Operation): Json {
  const responses: Json = {};
  const statusOf = ({ code }: RefusedAnswer) => errorTable[code].status;
  for (const status of new Set(operation.errors.map(statusOf))) {
    const refusals = operation.errors.filter((refusal) => statusOf(refusal) === status);
    responses[status] = errorResponse(refusals, status, operation);
  }
  return responses;
}

/** Describes the success response of an endpoint. @param generated the response as generated from the route's schema */
export function successResponse({ success }: Operation, generated: Json | undefined): Json {
  const { description, headers = {}, example } = success;
  const describedHeaders: Json = { ...requestId };
  for (const [name, text] of Object.entries(headers)) {
    describedHeaders[name] = { description: text, required: true, schema: { type: 'string' } };
  }
  const generatedContent = generated?.['content'] as Record<string, Json> | undefined;
  if (!generatedContent) return { description, headers: describedHeaders };
  const content: Json = {};
  for (const [type, media] of Object.entries(generatedContent)) {
    content[type] = example === undefined ? media : { ...media, example };
  }
  return { description, headers: describedHeaders, content };
}
