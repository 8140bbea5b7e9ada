import { readFileSync } from 'node:fs';

const words: Readonly<Record<string, number>> = {
  ...{ a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, ten: 10 },
  ...{ fifteen: 15, twenty: 20, thirty: 30, sixty: 60 },
};
const [second, minute, day] = [1_000, 60_000, 86_400_000];
const units: Readonly<Record<string, number>> = {
  ...{ ms: 1, s: second, second, minute, hour: 60 * minute, day, week: 7 * day },
  ...{ month: 30 * day, year: 365 * day },
};

/** A number and a unit of time. `a second` is excluded, because it also means the next one of two. */
export const time = `(?:(?:\\d[\\d,.]*|${Object.keys(words).slice(2).join('|')}) (?:second|minute|hour|day|week|month|year)s?|an? (?:minute|hour|day|week|month|year)|\\d[\\d,.]* ?m?s)\\b`;

/** Converts a text that matches `time` to milliseconds. */
export function millisecondsOf(text: string): number {
  const [, number = '', unit = ''] = /^([\d,.]+|[a-z]+) ?([a-z]+)$/i.exec(text) ?? [];
  const count = words[number.toLowerCase()] ?? Number(number.replaceAll(',', ''));
  return count * (units[unit] ?? units[unit.replace(/s$/, '')] ?? Number.NaN);
}

/** Reads a page as one line, because a phrase may span two lines. */
export function readPage(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8').replaceAll(/\s+/g, ' ');
}

interface Mention {
  /** Position of the duration in the page. */
  at: number;
  text: string;
}

/** Finds the durations in a page. With `phrase`, only durations at the place of TIME in that phrase. */
export function mentionsIn(page: string, phrase = 'TIME'): Mention[] {
  const [before = '', after = ''] = phrase.split('TIME');
  const pattern = new RegExp(`(?<=(?<![\\w.])${before})(?<![\\w.-])${time}(?=${after})`, 'gi');
  return [...page.matchAll(pattern)].map(({ index, 0: text }) => ({ at: index, text }));
}
