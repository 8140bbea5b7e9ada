import { describe, expect, it } from 'vitest';
import {
  isolated,
  languageAccepted,
  languageAsked,
  languages,
} from '../../../server/verification/pages/languages.ts';

describe('the language of the pages', () => {
  it.each([
    ['de', 'de'],
    ['de-CH fr', 'de'],
    ['ja fr-CA', 'fr'],
    ['AR', 'ar'],
    ['ja', undefined],
    ['', undefined],
    ['constructor __proto__', undefined],
    [undefined, undefined],
  ])(
    'follows ui_locales, or is undefined if it has no supported language: the value %j yields %s',
    (uiLocales, language) => {
      expect(languageAsked(uiLocales)).toBe(language);
    },
  );

  it.each([
    ['es-MX,es;q=0.9,en;q=0.8', 'es'],
    ['ja, fr;q=0.2, de;q=0.7', 'de'],
    ['fr;q=0, en-GB;q=0.1', 'en'],
    ['ja', 'en'],
    ['*', 'en'],
    [';;;,,q=', 'en'],
    [undefined, 'en'],
  ])('follows Accept-Language, or is English: the value %j yields %s', (header, language) => {
    expect(languageAccepted(header)).toBe(language);
  });
});

/** Returns all texts of a language by path. Functions are called with marked arguments. */
function texts(value: unknown, path = ''): [string, string][] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value === 'function') return [[path, String(value('«1»', '«2»'))]];
  return Object.entries(value as object).flatMap(([name, part]) => texts(part, `${path}.${name}`));
}

describe.each(Object.entries(languages))('the texts in %s', (code, messages) => {
  const english = new Map(texts(languages.en));

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

  it('differ from the English texts, with fewer than six exceptions', () => {
    const same = texts(messages).filter(([path, text]) => code !== 'en' && english.get(path) === text);
    // A few words are the same in both languages.
    expect(same.map(([path]) => path)).toEqual(
      same.length === 0 ? [] : expect.arrayContaining(['.direction']),
    );
    expect(same.length).toBeLessThan(6);
  });
});

it('a name is isolated by control characters on a right-to-left page, or if it is written right to left', () => {
  expect(isolated('Acme', { direction: 'ltr' })).toBe('Acme');
  expect(isolated('Acme', { direction: 'rtl' })).toBe('\u2068Acme\u2069');
  expect(isolated('مقهى', { direction: 'ltr' })).toBe('\u2068مقهى\u2069');
});

it('a name cannot change the text direction of its page, because its control characters are removed', () => {
  expect(isolated('Acme\u202E moc.live\u202C', { direction: 'ltr' })).toBe('Acme moc.live');
  expect(isolated('Acme\u2069\u202E', { direction: 'rtl' })).toBe('\u2068Acme\u2069');
});
