import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { en } from '../../../server/console/portal/messages/en.ts';
import { languages } from '../../../server/console/portal/messages/languages.ts';

const portal = fileURLToPath(new URL('../../../server/console/portal/', import.meta.url));
const sources = readdirSync(portal, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.(ts|eta)$/.test(file) && !file.startsWith('messages'))
  .map((file) => readFileSync(`${portal}${file}`, 'utf8'))
  .join('\n');

const keys = Object.keys(en) as (keyof typeof en)[];
/** Words that are the same in several languages. */
const international = /^(name|direction)$/;

const names = new Intl.DisplayNames('en', { type: 'language' });
const translations = Object.entries(languages)
  .filter(([code]) => code !== 'en')
  .map(([code, words]) => [names.of(code), code, words] as const);

describe.each(translations)('the texts of the portal in %s', (_name, code, words) => {
  it('have the same keys as in English, and none is empty', () => {
    expect(Object.keys(words).toSorted()).toEqual(keys.toSorted());
    for (const key of keys) expect([key, words[key].trim() === '']).toEqual([key, false]);
  });

  it('are translated: no text of several words equals the English one', () => {
    const same = keys.filter((key) => words[key] === en[key] && !international.test(key));
    expect(same.filter((key) => en[key].includes(' '))).toEqual([]);
    // Related languages share some single words: fewer than an eighth of all texts.
    expect([code, same.length < keys.length / 8]).toEqual([code, true]);
  });

  it('end with the same punctuation as in English', () => {
    const differing = keys.filter((key) => /[.:]$/.test(en[key]) !== /[.:]$/.test(words[key].trim()));
    expect(differing).toEqual([]);
  });
});

it('every text of the portal is used by a page, and every text that a page uses exists', () => {
  const used = new Set([...sources.matchAll(/\bm\.(\w+)|'(\w+)'/g)].map(([, a, b]) => a ?? b));
  expect(keys.filter((key) => !used.has(key))).toEqual([]);
  const asked = [...sources.matchAll(/\bm\.([a-z]\w+)\b/g)].map(([, key = '']) => key);
  expect([...new Set(asked)].filter((key) => !(key in en))).toEqual([]);
});
