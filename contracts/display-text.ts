import { z } from 'zod';

/** Characters that turn the direction of the text after them, as they stand in a class of a regular expression. */
export const directionControls = '\\u202A-\\u202E\\u2066-\\u2069';
const printable = new RegExp(`^[^\\p{Cc}${directionControls}]+$`, 'u');

/**
 * Text of operators that people read on lists and pages, of at most `max` characters. Control characters are refused,
 * also those that turn the direction of what follows.
 */
export const displayText = (max: number) =>
  z
    .string()
    .trim()
    .min(1, { error: 'must not be empty' })
    .max(max)
    .regex(printable, { error: 'must not contain control characters' });

export const DisplayName = displayText(120);
