/** Levels of objects and lists: more than any answer, attestation or status list has. */
const deepest = 16;

/** Without recursion: what is judged here may be nested without end. Text that is no JSON has any depth. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') inString = !inString;
    else if (inString) at += character === '\\' ? 1 : 0;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    if (depth > deepest) return true;
  }
  return false;
}

/**
 * Parses JSON of unknown origin. Its depth is bounded: code that walks through it may be recursive.
 * @throws SyntaxError that says what is wrong, without any part of the text
 */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw new SyntaxError(`nested deeper than ${deepest} levels`);
  try {
    return JSON.parse(text);
  } catch {
    throw new SyntaxError('not JSON');
  }
}
