import { parse } from 'node:querystring';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { textFault } from '../../../contracts/input-text.ts';
import { ApiError } from '../errors.ts';
import { bodyText } from './body-text.ts';

/** Whether a value from JSON is an object, and not null or an array. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Removes parameters without a value. Empty ones, and JSON members that are null, count as absent (RFC 6749 3.1, 3.2). */
export function withoutEmpty(parameters: unknown): unknown {
  if (!isObject(parameters)) return parameters;
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== '' && value !== null));
}

/** @throws ApiError `invalid_request`, because a parameter or a JSON member is given twice */
export function refuseRepeated(name: string): never {
  // The name is the caller's text, so only a plain word is sent back.
  const shown = /^\w{1,64}$/.test(name) ? name : 'A parameter';
  throw new ApiError('invalid_request', { description: `${shown} must be given once` });
}

/**
 * Refuses a query or a form that repeats a parameter, even an unknown one (RFC 6749 3.1 and 3.2).
 * @throws ApiError invalid_request
 */
export function requireOnce(parameters: unknown): void {
  if (!isObject(parameters)) return;
  const [name] = Object.entries(parameters).find(([, value]) => Array.isArray(value)) ?? [];
  if (name !== undefined) refuseRepeated(name);
}

/** Prepares a query before the schema checks it: refuses repeated parameters, and removes empty ones. */
export async function prepareQuery(request: FastifyRequest): Promise<void> {
  requireOnce(request.query);
  request.query = withoutEmpty(request.query);
}

/** The most fields of a form. Our own forms have at most seven, and OAuth libraries add few. */
const mostFields = 32;

/**
 * What is wrong with a query or a form that is not percent-encoded UTF-8, or has NUL. A parser would put other characters in
 * their place.
 */
export function encodingFault(encoded: string): string | undefined {
  try {
    return textFault(decodeURIComponent(encoded));
  } catch {
    return 'is not percent-encoded UTF-8';
  }
}

/** @throws ApiError `invalid_request` for a query or a form that is no text */
function requireEncodedText(encoded: string, what: 'query' | 'form'): void {
  const fault = encodingFault(encoded);
  if (fault) throw new ApiError('invalid_request', { description: `The ${what} ${fault}` });
}

/** The path of an address, without its query. */
export const pathOf = (url: string): string => url.split('?', 1)[0] ?? '/';

/** The query of an address, from its first `?` on: further ones are a part of it (RFC 3986 3.4). */
export function queryOf(url: string): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}

/** Refuses a query that is no text. A path that is no text is answered like an unknown one. */
export async function requireTextInQuery({ url }: FastifyRequest): Promise<void> {
  requireEncodedText(queryOf(url), 'query');
}

/**
 * Parses a form body. A repeated field becomes a list.
 * @throws ApiError `invalid_request` for text that is no Unicode, and for more than 32 fields, counted before they are parsed
 */
export function parseForm(body: string): Record<string, unknown> {
  // The limit ends the count, so that a long body of separators costs little.
  const fieldCount = body.split('&', mostFields + 1).length;
  if (fieldCount > mostFields)
    throw new ApiError('invalid_request', { description: `The form has more than ${mostFields} fields` });
  requireEncodedText(body, 'form');
  return parse(body);
}

/** Form bodies for the routes of `scope`. */
export function acceptForms(scope: FastifyInstance): void {
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    async (_request: unknown, body: Buffer) => parseForm(bodyText(body)),
  );
}
