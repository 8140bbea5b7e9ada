import type { Cell } from './page.ts';

/** A time in UTC, such as `2026-07-01 09:00:00`; a dash without a time. */
const timeText = (at: string | null | undefined): string => (at ? at.slice(0, 19).replace('T', ' ') : '–');

/** An amount of cents in dollars, such as `12.50 USD`. */
export const dollars = (cents: number): string => `${(cents / 100).toFixed(2)} USD`;

export const text = (value: string | number | null | undefined): Cell => ({
  text: value === null || value === undefined || value === '' ? '–' : String(value),
});
export const time = (at: string | null | undefined): Cell => ({ ...text(timeText(at)), isWhole: true });
export const toned = (value: string, tone: Cell['tone']): Cell => ({ text: value, tone });
/** A link to the page of a record. */
export const link = (id: string, to: string, note?: string): Cell => ({ text: id, to, note });

/** Removes fields that are undefined or empty. */
export const filled = <T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== '')) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };

/** Returns the words of a text, which are separated by spaces, commas or line breaks. */
export const wordsOf = (value: string | undefined): string[] =>
  (value ?? '').split(/[\s,]+/).filter((word) => word !== '');

/** The most records that one page of a list shows. */
export const pageSize = 50;

/**
 * Returns the address of the next page of a list. `asked` is the search of the present page. `stoppedAfter` is the last record
 * that the search read, if it stopped before the page was full.
 */
export function nextPage(
  path: string,
  records: readonly { id: string }[],
  {
    asked = {},
    stoppedAfter,
  }: { asked?: Record<string, string | undefined>; stoppedAfter?: string | null } = {},
): string | undefined {
  const last = records.length === pageSize ? records.at(-1)?.id : stoppedAfter;
  return last ? `${path}?${new URLSearchParams({ ...filled(asked), after: last }).toString()}` : undefined;
}

/** Returns options of a choice that show their values. `none` adds an empty option with this text. */
export const options = (values: readonly string[], none?: string) => [
  ...(none === undefined ? [] : [{ value: '', text: none }]),
  ...values.map((value) => ({ value, text: value })),
];
