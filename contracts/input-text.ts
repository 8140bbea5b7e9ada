/** The name of a character in the form of the Unicode standard, such as `U+0009`. */
export const nameOfCharacter = (codePoint: number): string =>
  `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;

/**
 * Characters that are not seen, or that change how the text beside them is shown, for use in a regular expression class: control
 * and format characters, separators of lines, and characters that Unicode lets programs ignore, such as fillers and variation
 * selectors. U+2800 is a Braille pattern without dots.
 */
export const hiddenCharacters = '\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\u2800';

/** Lone surrogates, which are no Unicode text, and NUL, which databases and terminals do not accept. */
const forbidden = /[\0\p{Surrogate}]/u;

/** Names a character and its place, such as `U+0000 at position 3`. Positions begin at 1. */
export function placeOfCharacter(text: string, characters: RegExp): string | undefined {
  const found = characters.exec(text);
  if (!found) return undefined;
  const codePoint = found[0].codePointAt(0) ?? 0;
  return `${nameOfCharacter(codePoint)} at position ${found.index + 1}`;
}

/** Describes what is wrong with a text that came from outside. Undefined if it is well-formed Unicode without NUL. */
export function textFault(text: string): string | undefined {
  const place = placeOfCharacter(text, forbidden);
  return place && `has ${place}: text must be well-formed Unicode without NUL`;
}

/** The most values of one input: members of objects and items of lists, at any depth. */
export const mostValues = 2_000;
/** The deepest nesting of objects and lists. The database stores at most 100 levels, and code may use recursion. */
export const deepestNesting = 32;

type Fields = Readonly<Record<string, unknown>>;

/** Repeats a path to the caller if it is short and consists of plain names. */
const shownPath = (path: string): string => (/^\w[\w.-]{0,255}$/.test(path) ? path : 'A value');

/**
 * Finds a fault of an input: a text or a name that is no well-formed Unicode or has NUL, too many values, or too deep nesting.
 * Call it before a schema reads the input, because a schema reports a fault for every value. There is no recursion.
 */
export function inputFault(input: unknown): string | undefined {
  const waiting: { path: string; depth: number; value: unknown }[] = [{ path: '', depth: 0, value: input }];
  let count = 0;
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { path, depth, value } = next;
    const fault = typeof value === 'string' ? textFault(value) : undefined;
    if (fault) return `${shownPath(path)} ${fault}`;
    if (typeof value !== 'object' || value === null) continue;
    if (depth === deepestNesting) return `The request is nested deeper than ${deepestNesting} levels`;
    const names = Object.keys(value);
    count += names.length;
    if (count > mostValues) return `The request has more than ${mostValues} values`;
    for (const name of names) {
      const faultOfName = textFault(name);
      if (faultOfName) return `The name of a value ${faultOfName}`;
      waiting.push({
        path: path === '' ? name : `${path}.${name}`,
        depth: depth + 1,
        value: (value as Fields)[name],
      });
    }
  }
  return undefined;
}

/** Unifies the forms in which Unicode can write a letter such as `ë`, which look alike. Some programs paste it as two characters. */
export const unifyForms = (text: string): string => text.normalize('NFC');

/** Returns a text in the form in which texts are compared that people type: the same letter is equal in any form and case. */
export const comparable = (text: string): string => unifyForms(text).toLowerCase();
