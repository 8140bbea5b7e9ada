import { directionControls } from '../../../contracts/display-text.ts';
import type { Language } from '../../sessions/language.ts';
import { ar } from '../messages/ar.ts';
import { de } from '../messages/de.ts';
import type { Messages } from '../messages/en.ts';
import { en } from '../messages/en.ts';
import { es } from '../messages/es.ts';
import { fr } from '../messages/fr.ts';

/** The messages of the hosted pages. */
export const languages: Readonly<Record<Language, Messages>> = { en, de, fr, es, ar };

/** The languages, each with its own name for itself, in the order of the menu. */
export const languageNames = Object.entries(languages).map(([code, { name, direction }]) => ({
  code,
  name,
  direction,
}));

export function isLanguage(code: string | undefined): code is Language {
  return code !== undefined && Object.hasOwn(languages, code);
}

const fallback: Language = 'en';

/** Returns the language of a tag such as `de-CH` by its primary subtag (RFC 4647 3.4). Undefined if it is not supported. */
function languageOfTag(tag: string): Language | undefined {
  const [primary = ''] = tag.toLowerCase().split(/[-_]/);
  return isLanguage(primary) ? primary : undefined;
}

function firstSupported(tags: readonly string[]): Language | undefined {
  return tags.map(languageOfTag).find((language) => language !== undefined);
}

/** How many characters of a list of languages are read. */
const longestList = 512;

/** The first supported language of `ui_locales` (OpenID Connect Core 3.1.2.1). */
export function languageAsked(uiLocales = ''): Language | undefined {
  return firstSupported(uiLocales.slice(0, longestList).split(' '));
}

/** The supported language that a browser prefers (RFC 9110 12.5.4), or English. */
export function languageAccepted(header = ''): Language {
  const wanted = header
    .slice(0, longestList)
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.split(';').map((text) => text.trim());
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
      return { tag, weight: Number(weight) || 0 };
    });
  const byPreference = wanted.filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight);
  return firstSupported(byPreference.map(({ tag }) => tag)) ?? fallback;
}

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
