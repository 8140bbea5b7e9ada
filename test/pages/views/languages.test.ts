import { describe, expect, it } from 'vitest';
import { isolated, languages } from '../../../server/pages/views/languages.ts';
import { languageAccepted, languageAsked } from '../../../server/platform/http/browser/language.ts';

describe('the language that a partner requests with ui_locales', () => {
  it.each([
    ['de', 'a supported language', 'de'],
    ['de', 'a region of a supported language', 'de-CH fr'],
    ['fr', 'an unsupported language before a supported one', 'ja fr-CA'],
    ['ar', 'a supported language in upper case', 'AR'],
  ])('is %s if the parameter has %s', (language, _, uiLocales) => {
    expect(languageAsked(uiLocales)).toBe(language);
  });

  it.each([
    ['has only an unsupported language', 'ja'],
    ['is empty', ''],
    ['has names of inherited properties', 'constructor __proto__'],
    ['is missing', undefined],
  ])('is undefined if the parameter %s', (_, uiLocales) => {
    expect(languageAsked(uiLocales)).toBeUndefined();
  });
});

describe('the language that a browser requests with Accept-Language', () => {
  it.each([
    ['es', 'has Spanish with the highest weight', 'es-MX,es;q=0.9,en;q=0.8'],
    [
      'de',
      'has German with a higher weight than French, after an unsupported language',
      'ja, fr;q=0.2, de;q=0.7',
    ],
    ['en', 'has French with the weight 0, and British English', 'fr;q=0, en-GB;q=0.1'],
    ['en', 'has only an unsupported language', 'ja'],
    ['en', 'is *', '*'],
    ['en', 'is malformed', ';;;,,q='],
    ['en', 'is missing', undefined],
  ])('is %s if the header %s', (language, _, header) => {
    expect(languageAccepted(header)).toBe(language);
  });
});

/** Returns all texts of a language by path. Functions are called with marked arguments. */
function texts(value: unknown, path = ''): [string, string][] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value === 'function') return [[path, String(value('«1»', '«2»'))]];
  return Object.entries(value as object).flatMap(([name, part]) => texts(part, `${path}.${name}`));
}

const english = new Map(texts(languages.en));

describe.each(Object.entries(languages))('the texts of the pages in the language %s', (code, messages) => {
  it('are complete, and have the same placeholders as the English texts', () => {
    const own = new Map(texts(messages));
    expect([...own.keys()]).toEqual([...english.keys()]);
    for (const [path, text] of own) {
      expect(text.trim(), path).not.toBe('');
      const marks = (of = '') => ['«1»', '«2»'].filter((mark) => of.includes(mark));
      expect(marks(text), path).toEqual(marks(english.get(path)));
    }
    expect(messages.language).toBe(code);
  });
});

it.each(Object.entries(languages).filter(([code]) => code !== 'en'))(
  'the texts of the pages in the language %s differ from the English texts, with fewer than six exceptions',
  (_, messages) => {
    const same = texts(messages).filter(([path, text]) => english.get(path) === text);
    // A few words are the same in both languages.
    expect(same.map(([path]) => path)).toEqual(
      same.length === 0 ? [] : expect.arrayContaining(['.direction']),
    );
    expect(same.length).toBeLessThan(6);
  },
);

it('the Spanish texts say "tú" to the user, and never "usted"', () => {
  const formal = texts(languages.es).filter(([, text]) =>
    /\b(usted|permita|abra|vuelva|espere)\b/i.test(text),
  );
  expect(formal).toEqual([]);
});

it('the time of a hand-off stands after a colon that the language itself writes', () => {
  expect(languages.fr.phone.confirm.began).toMatch(/\S :$/);
  for (const { phone } of Object.values(languages)) expect(phone.confirm.began).toMatch(/[^:]:$/);
});

it('a name on a page is isolated by control characters if the page or the name is written right to left', () => {
  expect(isolated('Acme', { direction: 'ltr' })).toBe('Acme');
  expect(isolated('Acme', { direction: 'rtl' })).toBe('\u2068Acme\u2069');
  expect(isolated('مقهى', { direction: 'ltr' })).toBe('\u2068مقهى\u2069');
});

it('a name cannot change the text direction of its page, because its control characters are removed', () => {
  expect(isolated('Acme\u202E moc.live\u202C', { direction: 'ltr' })).toBe('Acme moc.live');
  expect(isolated('Acme\u2069\u202E', { direction: 'rtl' })).toBe('\u2068Acme\u2069');
});
