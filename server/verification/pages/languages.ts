import { directionControls } from '../../../contracts/display-text.ts';
import { ar } from './messages/ar.ts';
import { de } from './messages/de.ts';
import { en } from './messages/en.ts';
import { es } from './messages/es.ts';
import { fr } from './messages/fr.ts';
import type { Messages } from './messages/messages.ts';

export const languages = { en, de, fr, es, ar } as const satisfies Record<string, Messages>;
export type Language = keyof typeof languages;

/** What each calls itself, in the order in which they are offered. */
export const languageNames = Object.entries(languages).map(([code, { name, direction }]) => ({
  code,
  name,
  direction,
}));

export function isLanguage(code: string | undefined): code is Language {
  return code !== undefined && Object.hasOwn(languages, code);
}

const fallback: Language = 'en';

/** The language of a tag such as `de-CH` (RFC 4647 3.4, by its primary subtag); undefined where it is not supported. */
function languageOfTag(tag: string): Language | undefined {
  const [primary = ''] = tag.toLowerCase().split(/[-_]/);
  return isLanguage(primary) ? primary : undefined;
}

function firstSpoken(tags: readonly string[]): Language | undefined {
  return tags.map(languageOfTag).find((language) => language !== undefined);
}

/** Characters of a list of languages that are read. */
const longestList = 512;

/** The first supported language of `ui_locales` (OpenID Connect Core 3.1.2.1). */
export function languageAsked(uiLocales = ''): Language | undefined {
  return firstSpoken(uiLocales.slice(0, longestList).split(' '));
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
  const liked = wanted.filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight);
  return firstSpoken(liked.map(({ tag }) => tag)) ?? fallback;
}

const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;

/** Characters with which a name would change the direction of our text. */
const directionControlPattern = new RegExp(`[${directionControls}]`, 'gu');

/** A partner's text without what could change how the text around it reads. */
export const withoutDirectionControls = (text: string) => text.replace(directionControlPattern, '');

/**
 * A name that does not affect the direction of the text around it. Where the two directions may differ, it stands
 * between FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE.
 */
export function isolated(name: string, { direction }: Pick<Messages, 'direction'>): string {
  const plain = withoutDirectionControls(name);
  return direction === 'rtl' || rightToLeft.test(plain) ? `\u2068${plain}\u2069` : plain;
}
