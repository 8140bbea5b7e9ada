import { parse } from 'node:querystring';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors.ts';

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
