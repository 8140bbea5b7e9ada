import type { Fault } from './injection.ts';
import type { Command } from './messages.ts';
import { type Action, actionTitle } from './proxy.ts';

/** A fault at a message to the database, and its name. */
export interface MessagePoint {
  name: string;
  fault: Fault;
}

type Matches = (command: Command) => boolean;

const writes = new Set(['insert', 'update', 'findAndModify', 'bulkWrite']);
const sides = ['before', 'after'] as const;
/** Longer than the driver waits for an answer. Milliseconds. */
const tooLate = 2_200;

const interferences: readonly Action[] = [
  { do: 'lose-request' },
  { do: 'lose-reply' },
  { do: 'delay-reply', by: tooLate },
  { do: 'double', after: 700 },
  { do: 'hold' },
];

/** A write to a collection, recognised by its content in any command, alone or with other writes. */
export const writing =
  (collection: string, text = /./): Matches =>
  (command) =>
    writes.has(command.name) && command.collection === collection && text.test(command.text);

export const deleting =
  (wanted: string): Matches =>
  ({ name, collection }) =>
    name === 'delete' && collection === wanted;

/** Server and database crash before and after each message. Each message is also lost, late, doubled and held back. */
export function pointsAt(messages: Readonly<Record<string, Matches>>): MessagePoint[] {
  const named = Object.entries(messages);
  const deaths = (['server', 'database'] as const).flatMap((kills) =>
    named.flatMap(([name, message]) =>
      sides.map((side) => ({ name: `${kills} dies, ${name}:${side}`, fault: { kills, message, side } })),
    ),
  );
  const network = named.flatMap(([name, matches]) =>
    interferences.map((action) => ({
      name: `${name}: ${actionTitle(action)}`,
      fault: { interferes: [{ matches, action }], release: 'after the sweep' as const },
    })),
  );
  return [...deaths, ...network];
}
