import type { KillPoint, Step } from './kill-points.ts';
import type { Command } from './messages.ts';
import type { MoneyPoint } from './money-run.ts';
import { type Action, actionTitle, type Rule } from './proxy.ts';

type Side = 'before' | 'after';
type Killed =
  | 'server'
  | 'database'
  | 'stopping server'
  | 'frozen server'
  | 'refusing link'
  | 'silent link'
  | 'wrong clock';

const sides: readonly Side[] = ['before', 'after'];
/** From the read of the session to the answer, and the outbox afterwards. */
const exchange: readonly Step[] = ['session', 'page', 'answer', 'event', 'unset'];
const operations: readonly Step[] = ['funding', 'refund', 'caps'];
const outbox: readonly Step[] = ['event', 'unset'];
/** Points that occur several times in each run, so that each occurrence can be chosen. */
const frequent: readonly Step[] = ['session', 'page', 'answer'];

const verbs: Record<Killed, string> = {
  server: 'server dies',
  database: 'database dies',
  'stopping server': 'server dies as it stops',
  'frozen server': 'server freezes',
  'refusing link': 'its private listener refuses',
  'silent link': 'its private listener is silent',
  'wrong clock': 'its clock is set',
};

function killing(kills: Killed, step: Step, side: Side): MoneyPoint {
  const point: KillPoint = `${step}:${side}`;
  return {
    name: `${verbs[kills]}, ${point}`,
    fault: { kills, point },
    moments: frequent.includes(step) ? 3 : 1,
  };
}

const both = (kills: Killed, steps: readonly Step[]): MoneyPoint[] =>
  steps.flatMap((step) => sides.map((side) => killing(kills, step, side)));

const among = (servers: number, point: MoneyPoint): MoneyPoint => ({
  ...point,
  name: `${servers} servers: ${point.name}`,
  servers,
});

/** The points with several servers, each with this number of them. */
export function moneyPointsAmong(servers: number): MoneyPoint[] {
  const several = moneyPoints.filter((point) => (point.servers ?? 1) > 1);
  const named = several.map((point) => ({ ...point, name: point.name.replace(/^\d+ servers: /, '') }));
  return [...new Map(named.map((point) => [point.name, point])).values()].map((point) =>
    among(servers, point),
  );
}

const swept = (point: MoneyPoint): MoneyPoint => ({
  ...point,
  name: `sweep: ${point.name}`,
  during: 'sweep',
});
const unbounded = (point: MoneyPoint): MoneyPoint => ({ ...point, unbounded: true });

const deaths: MoneyPoint[] = [
  ...both('server', exchange),
  ...both('database', exchange),
  ...both('server', operations).map(unbounded),
  ...both('database', operations).map(unbounded),
  ...both('server', outbox).map(swept),
  ...both('database', outbox).map(swept),
  ...(['page', 'event', 'unset'] as const).map((step) => ({
    ...killing('stopping server', step, 'before'),
    moments: 1,
  })),
  { ...killing('stopping server', 'page', 'after'), moments: 1 },
];

const hotWallet: MoneyPoint[] = [
  ...both('server', ['page']).map((point) => among(2, point)),
  // The other server alone could spend all of a limited wallet.
  ...both('server', ['event']).map((point) => unbounded(among(2, point))),
  ...both('database', ['page']).map((point) => among(2, point)),
  ...both('frozen server', ['page']).map((point) => among(2, point)),
  among(4, killing('server', 'page', 'after')),
  among(4, killing('database', 'page', 'after')),
  among(4, killing('frozen server', 'page', 'before')),
];

/**
 * At `hand-over`, the first server hands over; at `take-over` it is the wallet's writer. It crashes or pauses when
 * postings are handed over, or when they are written and not answered. A paused writer resumes after their deadline,
 * and drops them.
 */
const handOvers: MoneyPoint[] = [
  ...both('server', ['hand-over', 'take-over']),
  ...both('database', ['take-over']),
  ...both('frozen server', ['hand-over', 'take-over']),
].flatMap((point) => [2, 4, 8].map((servers) => among(servers, point)));

/** The writer runs and writes, but the others cannot reach it, or its wall clock is an hour off. */
const partitions: MoneyPoint[] = [
  ...both('refusing link', ['take-over']),
  ...both('silent link', ['take-over']),
  ...both('wrong clock', ['take-over']),
].map((point) => among(4, point));

const inserting =
  (collection: string, text = /./) =>
  ({ name, ...command }: Command) =>
    name === 'insert' && command.collection === collection && text.test(command.text);

const messages = {
  // One command reads the session and the status of the key.
  session: ({ name, text }: Command) => ['find', 'aggregate'].includes(name) && text.includes('"code.hash"'),
  // On a standalone server, an update without effect, which waits for the journal.
  head: ({ name, collection, text }: Command) =>
    ['find', 'findAndModify'].includes(name) && collection === 'ledger' && text.includes('"sort":{"_id":-1}'),
  page: inserting('ledger', /"kind":"token"/),
  funding: inserting('ledger', /"kind":"funding"/),
  refund: inserting('ledger', /"kind":"refund"/),
  caps: inserting('ledger', /"kind":"caps"/),
  fence: inserting('ledger', /"kind":"fence"/),
  event: inserting('events'),
  unset: ({ name, collection, text }: Command) =>
    name === 'update' && collection === 'ledger' && text.includes('"$unset":{"unpublished"'),
};
type Message = keyof typeof messages;

const interfering = (message: Message, action: Action): MoneyPoint => ({
  name: `${message}: ${actionTitle(action)}`,
  fault: { interferes: [{ matches: messages[message], action }] },
  moments: 1,
});

const held = (message: Message, release: 'after the exchanges' | 'after the sweep'): MoneyPoint => ({
  name: `${message}: held back, arrives ${release}`,
  fault: { interferes: [{ matches: messages[message], action: { do: 'hold' } }], release },
  moments: 1,
});

/** Every insert of a page has this fault, until the server gives up and sends its fence. */
const repeatedUntilFence = (action: Action): Rule => ({
  matches: messages.page,
  action,
  until: messages.fence,
});

const fenced = (pages: Action, fence?: Action): MoneyPoint => ({
  name: `page: ${actionTitle(pages)} until its fence${fence ? `, fence: ${actionTitle(fence)}` : ''}`,
  fault: {
    interferes: [repeatedUntilFence(pages), ...(fence ? [{ matches: messages.fence, action: fence }] : [])],
    release: 'after the exchanges',
  },
  moments: 1,
});

const killAtFence = (kills: 'server' | 'database', side: Side): MoneyPoint => ({
  name: `${verbs[kills]}, fence:${side}`,
  fault: { kills, point: `fence:${side}`, reachedBy: [repeatedUntilFence({ do: 'lose-request' })] },
  moments: 1,
});

/** Longer than the driver waits for an answer. Milliseconds. */
const tooLate = 2_200;
const [lostRequest, lostReply] = [{ do: 'lose-request' }, { do: 'lose-reply' }] as const;
const doubled = (after: number): Action => ({ do: 'double', after });

const network: MoneyPoint[] = [
  interfering('session', lostRequest),
  interfering('session', lostReply),
  interfering('session', { do: 'delay-reply', by: tooLate }),
  interfering('session', doubled(0)),
  interfering('page', lostRequest),
  interfering('page', lostReply),
  interfering('page', { do: 'delay-request', by: tooLate }),
  interfering('page', { do: 'delay-reply', by: tooLate }),
  interfering('page', doubled(0)),
  interfering('page', doubled(700)),
  held('page', 'after the exchanges'),
  held('page', 'after the sweep'),
  fenced({ do: 'hold' }),
  fenced(lostReply),
  fenced(lostRequest, lostReply),
  fenced(lostReply, lostRequest),
  ...(['server', 'database'] as const).flatMap((kills) => sides.map((side) => killAtFence(kills, side))),
  ...outbox.flatMap((step) => {
    const message = step === 'event' ? 'event' : 'unset';
    return [
      interfering(message, lostRequest),
      interfering(message, lostReply),
      interfering(message, { do: 'delay-reply', by: tooLate }),
      interfering(message, doubled(700)),
      held(message, 'after the sweep'),
      swept(interfering(message, lostReply)),
      swept(interfering(message, doubled(0))),
    ];
  }),
  ...(['funding', 'refund', 'caps'] as const).flatMap((message) => [
    unbounded(interfering(message, lostReply)),
    unbounded(interfering(message, doubled(700))),
  ]),
  among(2, interfering('page', lostReply)),
  among(2, interfering('page', { do: 'delay-request', by: 300 })),
  among(2, held('page', 'after the exchanges')),
  among(2, fenced({ do: 'hold' })),
  among(2, interfering('head', { do: 'delay-reply', by: 500 })),
  among(2, interfering('head', lostReply)),
  among(4, interfering('page', lostReply)),
];

/** All faults of an exchange, operators' commands, the outbox and the sweep. */
export const moneyPoints: readonly MoneyPoint[] = [
  ...deaths,
  ...hotWallet,
  ...handOvers,
  ...partitions,
  ...network,
];
