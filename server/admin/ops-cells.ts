import { timeOf } from './ops-text.ts';

/** A text, which may lead to another page; or a command. */
export type RecordCell = { text: string | number; to?: string } | { command: string };

/** A record as its page shows it. */
export interface RecordPage {
  title: string;
  facts: readonly (readonly [name: string, cell: RecordCell])[];
  tables: readonly {
    title: string;
    headings: readonly string[];
    rows: readonly (readonly RecordCell[])[];
  }[];
  /** What an operator can do, each with its command. */
  actions: readonly (readonly [what: string, command: string])[];
}

export const time = (iso: string | null): string => (iso === null ? '–' : `${timeOf(new Date(iso))} UTC`);
export const percent = (share: number | null): string =>
  share === null ? '–' : `${Math.round(share * 1000) / 10} %`;
export const text = (value: string | number | null): RecordCell => ({ text: value ?? '–' });
export const texts = (...values: readonly (string | number | null)[]): RecordCell[] => values.map(text);
export const to = (kind: string, id: string): RecordCell => ({ text: id, to: `/ops/${kind}/${id}` });
