import type { FaultPoint, Step } from './fault.ts';
import type { Command } from './messages.ts';
import type { MoneyPoint } from './money-run.ts';
import type { Action } from './proxy.ts';

/** From the charge to the answer, and the settlement after it. */
const exchange: Step[] = ['charge', 'commit', 'answer', 'ledger', 'event', 'release'];
/** `reversal:before` is between the charge's row and its reversal. */
const sweep: Step[] = ['tombstone', 'reversal', 'reversal-row'];
type Side = 'before' | 'after';
/** These go out in batches: their moment may come but once. */
const once: readonly Step[] = ['release', 'reversal', 'reversal-row', 'event', 'ledger'];

function killing(kills: 'server' | 'database', sides: readonly Side[]): MoneyPoint[] {
  const points = (steps: readonly Step[]) =>
    steps.flatMap((step) =>
      sides.map((side) => {
        const point: FaultPoint = `${step}:${side}`;
        return { point, moments: once.includes(step) ? 1 : 3 };
      }),
    );
  const during = points(exchange).map(
    ({ point, moments }): MoneyPoint => ({
      name: `${kills} dies, ${point}`,
      strike: { kills, point },
      moments,
    }),
  );
  const after = points(sweep).map(
    ({ point, moments }): MoneyPoint => ({
      name: `${kills} dies, sweep, ${point}`,
      strike: { kills, point },
      during: 'sweep',
      moments,
    }),
  );
  return [...during, ...after];
}

const stopping = (['commit:before', 'ledger:before', 'release:before'] as const).map(
  (point): MoneyPoint => ({
    name: `shutdown, ${point}`,
    strike: { kills: 'stopping server', point },
    moments: 1,
  }),
);

const onWallet = (text: RegExp) => (command: Command) =>
  command.collection === 'wallets' &&
  ['findAndModify', 'update'].includes(command.name) &&
  text.test(command.text);
const inserting = (collection: string, text = /./) => {
  return (command: Command) =>
    command.name === 'insert' && command.collection === collection && text.test(command.text);
};

const messages = {
  charge: onWallet(/"kind":"token"/),
  release: onWallet(/"release":\["txn_/),
  reversal: onWallet(/"kind":"reversal"/),
  commit: inserting('accesses', /"state":"live"/),
  tombstone: inserting('accesses', /"state":"void"/),
  ledger: inserting('ledger', /"kind":"token"/),
  event: inserting('events'),
};
type Message = keyof typeof messages;

const interfering = (message: Message, action: Action): MoneyPoint => ({
  name: `${message}: ${action.do}`,
  strike: { interferes: { matches: messages[message], action } },
  moments: 1,
});

/** Long enough for a sweep to come first. */
const overtaken = (message: Message, action: Action): MoneyPoint => ({
  ...interfering(message, action),
  name: `${message}: ${action.do}, swept meanwhile`,
  swept: 'meanwhile',
});

const commitReply = (name: string, documents: (count: number) => boolean): MoneyPoint => ({
  name: `commit: lose-reply, ${name}`,
  strike: {
    interferes: {
      matches: (command) => messages.commit(command) && documents(command.documents),
      action: { do: 'lose-reply' },
    },
  },
  moments: 1,
});

const held = (message: Message, release: 'after the exchange' | 'after settlement' | 'past the ring') => ({
  name: `${message}: held back, arrives ${release}`,
  strike: {
    interferes: { matches: messages[message], action: { do: 'hold' as const, driver: 'broken' as const } },
    release,
  },
  moments: 1,
});

/** Longer than a hold lives. */
const tooLate = 900;

const network: MoneyPoint[] = [
  interfering('charge', { do: 'lose-request' }),
  interfering('charge', { do: 'lose-reply' }),
  overtaken('charge', { do: 'delay-reply', by: tooLate }),
  held('charge', 'after settlement'),
  held('charge', 'after the exchange'),
  held('charge', 'past the ring'),
  interfering('commit', { do: 'lose-request' }),
  { ...commitReply('alone', (count) => count === 1), spread: 500 },
  overtaken('commit', { do: 'delay-reply', by: tooLate }),
  commitReply('in a batch', (count) => count > 1),
  held('commit', 'after settlement'),
  {
    name: 'commit: held back, arrives after its tombstone',
    strike: {
      interferes: { matches: messages.commit, action: { do: 'hold', driver: 'silent' } },
      release: 'after settlement',
    },
    swept: 'meanwhile',
    moments: 1,
  },
  ...(['ledger', 'event', 'release'] as const).map((message) => interfering(message, { do: 'lose-reply' })),
  held('release', 'after settlement'),
  ...(['tombstone', 'reversal'] as const).flatMap((message) => [
    { ...interfering(message, { do: 'lose-reply' }), during: 'sweep' as const },
    { ...held(message, 'after settlement'), during: 'sweep' as const },
  ]),
];

/** Everything that is done to an exchange, its settlement and the sweep. */
export const moneyPoints: readonly MoneyPoint[] = [
  ...killing('server', ['before', 'after']),
  ...killing('database', ['after', 'before']),
  ...stopping,
  ...network,
];
