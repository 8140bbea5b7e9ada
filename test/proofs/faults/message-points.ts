import type { Fault } from './injection.ts';
import type { Command } from './messages.ts';
import { type Action, actionTitle } from './proxy.ts';

/** A fault at a message to the database, with its title. */
export interface MessagePoint {
  name: string;
  fault: Fault;
}

type Matches = (command: Command) => boolean;

const writes = new Set(['insert', 'update', 'findAndModify', 'bulkWrite']);
const sides = ['before', 'after'] as const;
/** A delay in milliseconds. It is longer than the driver waits for an answer. */
const tooLate = 2_200;

const interferences: readonly Action[] = [
  { do: 'lose-request' },
  { do: 'lose-reply' },
  { do: 'delay-reply', by: tooLate },
  { do: 'double', after: 700 },
  { do: 'hold' },
];

/** Matches a command that writes to a collection, by the content of the write. Other writes may be in the same command. */
export const writing =
  (collection: string, text = /./): Matches =>
  (command) =>
    writes.has(command.name) && command.collection === collection && text.test(command.text);

export const deleting =
  (wanted: string): Matches =>
  ({ name, collection }) =>
    name === 'delete' && collection === wanted;

/** Returns the points of each message: a crash of server or database before and after it, and its loss, delay, copy and hold. */
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
