import { z } from 'zod';
import { displayText } from './display-text.ts';
import { hiddenCharacters } from './input-text.ts';

/** Characters that show nothing, or a space that is none. */
const invisible = new RegExp(`[${hiddenCharacters}]|(?! )\\p{Zs}`, 'u');
/** More marks on one letter than any script needs: they cover the text around it. */
const stackedMarks = /\p{M}{4}/u;
const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const leftToRight =
  /[^\P{L}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/** Why a text cannot be a part of a brand; undefined if it can. */
export function brandTextFault(text: string): string | undefined {
  if (invisible.test(text)) return 'must not contain invisible characters';
  if (!/[\p{L}\p{N}]/u.test(text)) return 'must contain a letter or a digit';
  if (stackedMarks.test(text.normalize('NFC'))) return 'must have at most three combining marks in a row';
  if (rightToLeft.test(text) && leftToRight.test(text))
    return 'must have letters of one direction: not both right-to-left and left-to-right ones';
  return undefined;
}

/** Makes a schema for a text of a brand, which users read on hosted pages, of at most `max` characters. */
export const brandText = (max: number) =>
  // A step of its own, so that a hidden character is named once.
  displayText(max).pipe(
    z.string().superRefine((text, context) => {
      const message = brandTextFault(text);
      if (message) context.addIssue({ code: 'custom', message });
    }),
  );
