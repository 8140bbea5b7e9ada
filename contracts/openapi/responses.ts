import { errorTable, generalText } from '../errors.ts';
import { headerReference } from './headers.ts';
import type { Operation, RefusedAnswer } from './operation.ts';

type Json = Record<string, unknown>;

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
  const isFixed = errorFormat === 'oauth' || exactTexts;
  if (!isFixed) return reference;
  const values = refusals.map((one) => (errorFormat === 'oauth' ? errorTable[one.code].oauth : textOf(one)));
  const error = { type: 'string', enum: [...new Set(values)] };
  return { allOf: [reference, { type: 'object', properties: { error } }] };
}

function headersFor(refusals: readonly RefusedAnswer[], status: number, { challenge }: Operation): Json {
  const waits = refusals.some(({ retryAfter }) => retryAfter !== undefined);
  const spends = refusals.some(({ spendLimit }) => spendLimit);
  return {
    ...requestId,
    'X-SVC-Error': headerReference('ErrorCode'),
    Link: headerReference('Help'),
    ...(status === 401 && challenge && { 'WWW-Authenticate': headerReference(challenge) }),
    ...(waits && { 'Retry-After': headerReference('RetryAfter') }),
    ...(spends && {
      'RateLimit-Policy': headerReference('RateLimitPolicy'),
      RateLimit: headerReference('RateLimit'),
    }),
  };
}

function errorResponse(refusals: readonly RefusedAnswer[], status: number, operation: Operation): Json {
  const { errorFormat, pages } = operation;
  const names = refusals.map(({ code }, index) =>
    refusals.findIndex((other) => other.code === code) === index ? code : `${code}_${index + 1}`,
  );
  const examples = refusals.map((refusal, index) => [
    names[index],
    { value: exampleOf(refusal, errorFormat) },
  ]);
  return {
    description: `${[...new Set(refusals.map(({ code }) => `\`${code}\``))].join(', ')}.`,
    headers: headersFor(refusals, status, operation),
    content: {
      'application/json': { schema: schemaFor(refusals, operation), examples: Object.fromEntries(examples) },
      ...(pages && { 'text/html': { schema: { type: 'string', description: 'A page for the user' } } }),
    },
  };
}

export function errorResponses(operation: Operation): Json {
  const { errors } = operation;
  const statusOf = ({ code }: RefusedAnswer) => errorTable[code].status;
  const statuses = [...new Set(errors.map(statusOf))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const refusals = errors.filter((one) => statusOf(one) === status);
      return [String(status), errorResponse(refusals, status, operation)];
    }),
  );
}

/** Describes the success response of an endpoint. @param generated the response as generated from the route's schema */
export function successResponse({ success }: Operation, generated: Json | undefined): Json {
  const { description, headers, example } = success;
  const content = generated?.['content'] as Record<string, Json> | undefined;
  const described = Object.entries(headers ?? {}).map(([name, text]) => [
    name,
    { description: text, required: true, schema: { type: 'string' } },
  ]);
  return {
    description,
    headers: { ...requestId, ...Object.fromEntries(described) },
    ...(content && {
      content: Object.fromEntries(
        Object.entries(content).map(([type, media]) => [
          type,
          example === undefined ? media : { ...media, example },
        ]),
      ),
    }),
  };
}
