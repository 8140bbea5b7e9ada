import { z } from 'zod';

/** Control characters that change the direction of the text after them, for use in a regular expression class. */
export const directionControls = '\\u202A-\\u202E\\u2066-\\u2069';
const printable = new RegExp(`^[^\\p{Cc}${directionControls}]+$`, 'u');

/**
 * Makes a schema for a text of at most `max` characters that people read on lists and pages. Control characters are refused,
 * also those that change the direction of the text.
 */
export const displayText = (max: number) =>
  z
    .string()
    .trim()
    .min(1, { error: 'must not be empty' })
    .max(max)
    .regex(printable, { error: 'must not contain control characters' });

export const DisplayName = displayText(120);
