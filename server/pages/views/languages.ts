import { directionControls } from '../../../contracts/display-text.ts';
import type { Language } from '../../platform/http/browser/language.ts';
import { ar } from '../messages/ar.ts';
import { de } from '../messages/de.ts';
import type { Messages } from '../messages/en.ts';
import { en } from '../messages/en.ts';
import { es } from '../messages/es.ts';
import { fr } from '../messages/fr.ts';

export const languages: Readonly<Record<Language, Messages>> = { en, de, fr, es, ar };

/** The languages, each with its own name for itself, in the order of the menu. */
export const languageNames = Object.entries(languages).map(([code, { name, direction }]) => ({
  code,
  name,
  direction,
}));

const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;

/** Characters that would change the direction of the text after a name. */
const directionControlPattern = new RegExp(`[${directionControls}]`, 'gu');

/** A partner's text without characters that change the direction of the text around it. */
export const withoutDirectionControls = (text: string) => text.replace(directionControlPattern, '');

/**
 * A name that does not affect the direction of the text around it. Where the two directions may differ, it stands
 * between FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE.
 */
export function isolated(name: string, { direction }: Pick<Messages, 'direction'>): string {
  const plain = withoutDirectionControls(name);
  return direction === 'rtl' || rightToLeft.test(plain) ? `\u2068${plain}\u2069` : plain;
}
