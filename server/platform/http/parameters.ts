import { parse } from 'node:querystring';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors.ts';

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The parameters that have a value: an empty one, and a JSON member that is null, count as absent (RFC 6749 3.1 and 3.2). */
export function withoutEmpty(parameters: unknown): unknown {
  if (!isRecord(parameters)) return parameters;
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== '' && value !== null));
}

/** @throws ApiError `invalid_request`: a parameter, or a member of a JSON object, is given twice */
export function refuseRepeated(name: string): never {
  // An unknown name is the caller's own text: only a plain word is sent back.
  const shown = /^\w{1,64}$/.test(name) ? name : 'A parameter';
  throw new ApiError('invalid_request', { description: `${shown} must be given once` });
}

/**
 * Refuses a query or a form that repeats a parameter, a known one or not (RFC 6749 3.1 and 3.2).
 * @throws ApiError invalid_request
 */
export function requireOnce(parameters: unknown): void {
  if (!isRecord(parameters)) return;
  const [name] = Object.entries(parameters).find(([, value]) => Array.isArray(value)) ?? [];
  if (name !== undefined) refuseRepeated(name);
}

/** Fields of a form. Ours have at most seven, and OAuth libraries add few. */
const mostFields = 32;

/** As many fields as there are separators, and one. Stops at `most`: a body of separators alone is not counted through. */
function hasMoreFields(body: string, most: number): boolean {
  let fields = 1;
  for (let at = body.indexOf('&'); at !== -1; at = body.indexOf('&', at + 1)) {
    fields += 1;
    if (fields > most) return true;
  }
  return false;
}

/**
 * The fields of a form body; a repeated one is a list.
 * @throws ApiError `invalid_request` for more than 32 fields, counted before they are parsed
 */
export function parseForm(body: string): Record<string, unknown> {
  if (hasMoreFields(body, mostFields)) {
    throw new ApiError('invalid_request', {
      description: `The form has more than ${mostFields} fields`,
    });
  }
  return parse(body);
}

/** Form bodies for the routes of `scope`. */
export function acceptForms(scope: FastifyInstance): void {
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_request: unknown, body: string | Buffer) => parseForm(body.toString()),
  );
}
