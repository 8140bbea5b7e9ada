/** The languages of the hosted pages, in the order of the menu. */
export const languageCodes = ['en', 'de', 'fr', 'es', 'ar'] as const;
export type Language = (typeof languageCodes)[number];

export function isLanguage(code: string | undefined): code is Language {
  return code !== undefined && (languageCodes as readonly string[]).includes(code);
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
