import { type ListedHealth, latestAnswer } from '../../../contracts/admin/endpoint-health.ts';

/** A text in a table, with an optional link to another page, and an optional note below it. */
interface TextCell {
  text: string | number;
  to?: string;
  note?: string;
}

/** A cell of a table: a text, or a command that helps, which may link to its guide. */
export type Cell = TextCell | { command: string; href: string | undefined };

/** Makes a cell with a command, which links to its guide. `rest` has the arguments of the command. */
export type HelpWith<Command extends string> = (command: Command, rest?: string) => Cell;

export interface Table {
  title: string;
  headings: readonly string[];
  rows: readonly (readonly Cell[])[];
}

export interface RecordPage {
  title: string;
  facts: readonly (readonly [name: string, cell: Cell])[];
  tables: readonly Table[];
  /** The actions that an operator can take, each with its command. */
  actions: readonly (readonly [what: string, command: string])[];
}

/** Writes a time as `2026-07-01 09:00:00`, in UTC. */
export const timeOf = (at: Date): string => at.toISOString().slice(0, 19).replace('T', ' ');

/** Stands for a value that does not exist. */
const none = '–';

export const time = (iso: string | null): string => (iso === null ? none : `${timeOf(new Date(iso))} UTC`);
export const percent = (share: number | null): string =>
  share === null ? none : `${Math.round(share * 1000) / 10} %`;
export const text = (value: string | number | null): Cell => ({ text: value ?? none });
export const texts = (...values: readonly (string | number | null)[]): Cell[] => values.map(text);
/** Makes a link to the page of a record. @param shown a text that is shorter than the id, for the first column on a phone */
export const link = (kind: string, id: string, shown = id): TextCell => ({
  text: shown,
  to: `/ops/${kind}/${id}`,
});

export const endpointHeadings = [
  'State',
  'Mode',
  'Last answer',
  'Failing since',
  'Success',
  'Due',
  'Why they wait',
  'Key',
];

/** Makes the row of an endpoint for a table with these headings. */
export function endpointRow(health: ListedHealth): Cell[] {
  const { keyId, state, mode, answers, failingSince, successShare, queued, cause } = health;
  const newest = latestAnswer(answers);
  return [
    link('endpoint', keyId, state),
    ...texts(mode, newest?.answer ?? null, time(failingSince), percent(successShare), queued, cause),
    link('endpoint', keyId),
  ];
}
