import { inputFault } from '../../../contracts/input-text.ts';

/** The deepest nesting of objects and lists. Answers, attestations and status lists are less deep. */
const maxDepth = 16;

/** Whether a text is nested too deep. Does not use recursion, because the text can have any depth. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    const isEscape = inString && character === '\\';
    // The escaped character is skipped, because it may be a quotation mark that does not end the string.
    if (isEscape) index += 1;
    else if (character === '"') inString = !inString;
    else if (inString) continue;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    if (depth > maxDepth) return true;
  }
  return false;
}

/** Whether a value of JSON is an object, and no list. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Parses JSON of unknown origin. The depth is limited, so that later code may use recursion.
 * @throws SyntaxError if the text is not JSON or too deep, or if a text in it is no Unicode or has NUL. The message contains no
 * part of the text
 */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw new SyntaxError(`nested deeper than ${maxDepth} levels`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new SyntaxError('not JSON');
  }
  if (inputFault(value)) throw new SyntaxError('not Unicode, or too long');
  return value;
}
