import { z } from 'zod';
import { hiddenCharacters, placeOfCharacter } from './input-text.ts';

/** Control characters that change the direction of the text after them, for use in a regular expression class. */
export const directionControls = '\\u202A-\\u202E\\u2066-\\u2069';

/** With a hidden character, two texts look alike. */
const hidden = new RegExp(`[${hiddenCharacters}]`, 'u');

/** Names the first hidden character of a text, and its place. Undefined if there is none. */
const hiddenCharacter = (text: string): string | undefined => placeOfCharacter(text, hidden);

/** Adds the rule that a text has no hidden characters. The error names the first one. */
export const withoutHidden = <Schema extends z.ZodType<string>>(schema: Schema) =>
  schema.refine((text) => hiddenCharacter(text) === undefined, {
    error: ({ input }) =>
      `must not contain control characters or invisible ones: ${hiddenCharacter(String(input))}`,
  });

/** Makes a schema for a text of at most `max` characters that people read on lists and pages. */
export const displayText = (max: number, empty = 'must not be empty') =>
  withoutHidden(z.string().trim().normalize().min(1, { error: empty }).max(max));

export const DisplayName = displayText(120);
