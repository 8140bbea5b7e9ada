import { timeOf } from './ops-text.ts';

/** A cell of a table: a text, which may link to another page, or a command. */
export type RecordCell = { text: string | number; to?: string } | { command: string };

/** The content of the page of a record. */
export interface RecordPage {
  title: string;
  facts: readonly (readonly [name: string, cell: RecordCell])[];
  tables: readonly {
    title: string;
    headings: readonly string[];
    rows: readonly (readonly RecordCell[])[];
  }[];
  /** The actions that an operator can take, each with its command. */
  actions: readonly (readonly [what: string, command: string])[];
}

export const time = (iso: string | null): string => (iso === null ? '–' : `${timeOf(new Date(iso))} UTC`);
export const percent = (share: number | null): string =>
  share === null ? '–' : `${Math.round(share * 1000) / 10} %`;
export const text = (value: string | number | null): RecordCell => ({ text: value ?? '–' });
export const texts = (...values: readonly (string | number | null)[]): RecordCell[] => values.map(text);
export const to = (kind: string, id: string): RecordCell => ({ text: id, to: `/ops/${kind}/${id}` });
/** A text in place of an id, which is too long for the first column on a phone. */
export const link = (shown: string, kind: string, id: string): RecordCell => ({
  text: shown,
  to: `/ops/${kind}/${id}`,
});
