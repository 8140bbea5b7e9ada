import type { FastifyInstance } from 'fastify';
import { inputFault } from '../../../contracts/input-text.ts';
import { ApiError } from '../errors.ts';
import { bodyText } from './body-text.ts';
import { refuseRepeated } from './parameters.ts';

/** Matches a bracket or a string. A string that is the name of a member is matched with its colon. */
const tokens = /[{}[\]]|"[^"\\]*(?:\\.[^"\\]*)*"(?:\s*:)?/g;

/**
 * Finds a member name that an object in `json` has twice, at any depth; undefined if there is none. `JSON.parse` would
 * silently keep the last one. There is no recursion, so deep nesting cannot exhaust the stack.
 * @param json valid JSON
 */
function repeatedMember(json: string): string | undefined {
  /** The objects and lists around the token, from the outside: the names in an object so far, or undefined for a list. */
  const enclosing: (Set<string> | undefined)[] = [];
  for (const [token] of json.matchAll(tokens)) {
    if (token === '{') enclosing.push(new Set());
    else if (token === '[') enclosing.push(undefined);
    else if (token === '}' || token === ']') enclosing.pop();
    else if (token.endsWith(':')) {
      // The string is parsed, because an escaped name is the same name: "\u0061" is "a".
      const name: string = JSON.parse(token.slice(0, token.lastIndexOf('"') + 1));
      const names = enclosing.at(-1);
      if (names?.has(name)) return name;
      names?.add(name);
    }
  }
  return undefined;
}

const malformed = (description: string) => new ApiError('invalid_request', { description });

/**
 * Parses a JSON body, or another JSON text of a request.
 * @param what what the text is, for the description of a fault
 * @throws ApiError `invalid_request` for an empty body, malformed JSON, a member that is given twice, text that is no
 * Unicode, or too many values
 */
export function parseJson(body: string, what = 'The request body'): unknown {
  if (body === '') throw malformed(`${what} is empty`);
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw malformed(`${what} is not valid JSON`);
  }
  const repeated = repeatedMember(body);
  if (repeated !== undefined) refuseRepeated(repeated);
  const fault = inputFault(value);
  if (fault) throw malformed(fault);
  return value;
}

/** JSON bodies for the routes of `scope`, instead of the framework's own parser. */
export function acceptJson(scope: FastifyInstance): void {
  scope.removeContentTypeParser('application/json');
  scope.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: unknown, body: Buffer) => parseJson(bodyText(body)),
  );
}
