import { type ListedHealth, latestAnswer } from '../../../contracts/admin/endpoint-health.ts';
import type { Cell, Section } from '../portal/views/kit/page.ts';
import { percent, text, time } from '../portal/views/kit/text.ts';

/** Makes a cell with a command, which links to its guide. `rest` has the arguments of the command. */
export type HelpWith<Command extends string> = (command: Command, rest?: string) => Cell;

export type Task = readonly [what: string, command: Cell];

export type Table = NonNullable<Section['table']> & { title: string };

export interface RecordPage {
  title: string;
  facts: NonNullable<Section['facts']>;
  tables: readonly Table[];
  actions: readonly (readonly [what: string, command: string])[];
}

/** Writes a time as `2026-07-01 09:00:00`, in UTC. */
export const timeOf = (at: Date): string => time(at.toISOString()).text;

export const texts = (...values: readonly (string | number | null)[]): Cell[] => values.map(text);
/** Makes a link to the page of a record. @param shown a text that is shorter than the id, for the first column on a phone */
export const link = (kind: string, id: string, shown = id): Cell => ({ text: shown, to: `/${kind}/${id}` });

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

export function endpointRow(health: ListedHealth): Cell[] {
  const { keyId, state, mode, answers, failingSince, successShare, queued, cause } = health;
  const newest = latestAnswer(answers);
  return [
    link('endpoint', keyId, state),
    ...texts(mode, newest?.answer ?? null),
    time(failingSince),
    percent(successShare),
    ...texts(queued, cause),
    link('endpoint', keyId),
  ];
}
