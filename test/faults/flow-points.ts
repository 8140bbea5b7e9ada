import type { FlowPoint } from './flow-run.ts';
import type { Command } from './messages.ts';
import { type Action, actionTitle } from './proxy.ts';

type Side = 'before' | 'after';

const sides: readonly Side[] = ['before', 'after'];
const writes = new Set(['insert', 'update', 'findAndModify', 'bulkWrite']);

/** A write to a collection, by what it says: whichever command carries it, alone or with others. */
export const writing =
  (collection: string, text: RegExp) =>
  (command: Command): boolean =>
    writes.has(command.name) && command.collection === collection && text.test(command.text);

const moved = (event: string) => writing('sessions', new RegExp(`"event":"${event}"`));

/** Every write of a flow, and of the events that follow from it. */
const messages = {
  start: moved('started'),
  consent: moved('consented'),
  authenticate: moved('authenticated'),
  verify: moved('verified'),
  complete: moved('completed'),
  user: writing('users', /"identity":/),
  claims: writing('users', /"evaluatedAt":/),
  enrollment: writing('enrollments', /"enrollment\.created"/),
  event: writing('events', /./),
  delivery: writing('deliveries', /"eventId":/),
  published: writing('sessions', /"outbox":\[\]/),
} as const;
type Message = keyof typeof messages;

const names = Object.keys(messages) as Message[];
/** Longer than the driver waits for an answer. Milliseconds. */
const tooLate = 2_200;

const deaths = (['server', 'database'] as const).flatMap((kills) =>
  names.flatMap((name) =>
    sides.map(
      (side): FlowPoint => ({
        name: `${kills} dies, ${name}:${side}`,
        fault: { kills, message: messages[name], side },
      }),
    ),
  ),
);

const interfering = (name: Message, action: Action): FlowPoint => ({
  name: `${name}: ${actionTitle(action)}`,
  fault: { interferes: [{ matches: messages[name], action }], release: 'after the sweep' },
});

const network = names.flatMap((name) => [
  interfering(name, { do: 'lose-request' }),
  interfering(name, { do: 'lose-reply' }),
  interfering(name, { do: 'delay-reply', by: tooLate }),
  interfering(name, { do: 'double', after: 700 }),
  interfering(name, { do: 'hold' }),
]);

/** All faults around the steps of a flow. */
export const flowPoints: readonly FlowPoint[] = [...deaths, ...network];
