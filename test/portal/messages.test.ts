import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { en } from '../../server/portal/messages/en.ts';
import { languages } from '../../server/portal/messages/languages.ts';

const portal = fileURLToPath(new URL('../../server/portal/', import.meta.url));
const sources = readdirSync(portal, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.(ts|eta)$/.test(file) && !file.startsWith('messages'))
  .map((file) => readFileSync(`${portal}${file}`, 'utf8'))
  .join('\n');

const keys = Object.keys(en) as (keyof typeof en)[];
/** Words that are the same in several languages. */
const international = /^(name|direction)$/;

describe.each(Object.entries(languages).filter(([code]) => code !== 'en'))(
  'the words of %s',
  (code, words) => {
    it('are complete, and name nothing that English does not', () => {
      expect(Object.keys(words).toSorted()).toEqual(keys.toSorted());
      for (const key of keys) expect([key, words[key].trim() === '']).toEqual([key, false]);
    });

    it('are translated: a text of several words is never the English one', () => {
      const same = keys.filter((key) => words[key] === en[key] && !international.test(key));
      expect(same.filter((key) => en[key].includes(' '))).toEqual([]);
      // Single words are alike in related languages, and never many.
      expect([code, same.length < keys.length / 8]).toEqual([code, true]);
    });

    it('end sentences as English does', () => {
      const differing = keys.filter((key) => /[.:]$/.test(en[key]) !== /[.:]$/.test(words[key].trim()));
      expect(differing).toEqual([]);
    });
  },
);

it('every word is used by a page, and pages use no other', () => {
  const used = new Set([...sources.matchAll(/\bm\.(\w+)|'(\w+)'/g)].map(([, a, b]) => a ?? b));
  expect(keys.filter((key) => !used.has(key))).toEqual([]);
  const asked = [...sources.matchAll(/\bm\.([a-z]\w+)\b/g)].map(([, key = '']) => key);
  expect([...new Set(asked)].filter((key) => !(key in en))).toEqual([]);
});
