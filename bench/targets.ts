import type { CliStartup } from './cli-startup.ts';
import type { FairnessId, FairnessRow } from './fairness/rows.ts';
import type { FlowRow } from './flows/rows.ts';
import type { HotRow } from './hot/hot.ts';
import type { PresentationCost } from './identity-wallet-presentations.ts';
import type { Measurement } from './measure.ts';
import type { OverloadFigures } from './overload/overload.ts';
import type { Row } from './rounds.ts';
import { names } from './subject-names.ts';
import type { WebhookFigures, WebhookRow } from './webhooks/rows.ts';

/** The kinds of values: requests per second, milliseconds, microseconds of processor time. */
const measures = {
  rate: ({ rate }: Measurement) => rate,
  p99: ({ p99 }: Measurement) => p99,
  'server + database': ({ serverCpu, databaseCpu }: Measurement) => serverCpu + databaseCpu,
  server: ({ serverCpu }: Measurement) => serverCpu,
} as const;

/** A ratio of one server process of ours to a peer in the same run, as a target. */
interface Target {
  row: string;
  peer: string;
  measure: keyof typeof measures;
  /** At least for a rate, at most for the others. */
  bound: number;
}

const rate = (row: string, peer: string, bound: number): Target => ({ row, peer, measure: 'rate', bound });
const p99 = (row: string): Target => ({ row, peer: names.oidcMongo, measure: 'p99', bound: 1 });

const targets: readonly Target[] = [
  rate('hot-1', names.oidcMongo, 1.5),
  rate('usual-1', names.oidcMongo, 1.3),
  rate('hot-16', names.oidcMongo, 3.5),
  rate('hot-64', names.oidcMongo, 5),
  rate('hot-128', names.oidcMongo, 6),
  rate('crowd-64', names.oidcMongo, 3.5),
  rate('hot-64', names.oidcMemory, 1),
  rate('hot-128', names.oidcMemory, 1),
  rate('userinfo-64-cold', names.oidcMemory, 1.3),
  { row: 'hot-64', peer: names.oidcMongo, measure: 'server + database', bound: 0.15 },
  { row: 'hot-64', peer: names.oidcMemory, measure: 'server', bound: 0.9 },
  ...['hot-1', 'hot-16', 'hot-64', 'hot-128', 'crowd-64'].map(p99),
];

/** Whether a target was reached, as text. */
export interface Verdict {
  title: string;
  wanted: string;
  measured: string;
  met: boolean;
}

interface Bound {
  title: string;
  value: number;
  sign: '≥' | '≤' | '<' | '=';
  bound: number;
  /** A value with its unit. */
  show: (value: number) => string;
}

function checkBound({ title, value, sign, bound, show }: Bound): Verdict {
  const met = { '≥': value >= bound, '≤': value <= bound, '<': value < bound, '=': value === bound }[sign];
  return { title, wanted: `${sign} ${show(bound)}`, measured: show(value), met };
}

const times = (value: number) => `${value.toFixed(2)}×`;
const milliseconds = (value: number) => `${value.toFixed(0)} ms`;
const perSecond = (value: number) => `${Math.round(value).toLocaleString('en-US')}/s`;

/** Database commands of an exchange with a single caller. */
const mostCommands = 3;

/** The ratios that this run can compute, and the commands of an exchange. */
export function checkRequests(rows: readonly Row[]): Verdict[] {
  const ratios = targets.flatMap(({ row: id, peer, measure, bound }) => {
    const row = rows.find((each) => each.id === id);
    const ours = row?.results.get(names.ours);
    const theirs = row?.results.get(peer);
    if (!row || !ours || !theirs) return [];
    const value = measures[measure](ours) / measures[measure](theirs);
    const title = `${row.title}: ${measure} ÷ ${peer}`;
    return [checkBound({ title, value, sign: measure === 'rate' ? '≥' : '≤', bound, show: times })];
  });
  const commands = rows.flatMap(({ id, title, results }) => {
    const ours = results.get(names.ours);
    if (!ours || !['hot-1', 'usual-1'].includes(id)) return [];
    // Background commands vary slightly from second to second.
    const value = Math.round(ours.commands * 10) / 10;
    const show = (count: number) => count.toFixed(1);
    return [
      checkBound({ title: `${title}: database commands`, value, sign: '≤', bound: mostCommands, show }),
    ];
  });
  return [...ratios, ...commands];
}

/** Whole flows compared with oidc-provider, and the cost of a flow, if these numbers in flight were measured. */
export function checkFlows(rows: readonly FlowRow[]): Verdict[] {
  if (!rows.some(({ id }) => id === 'flows-new-32')) return [];
  const of = (callers: number, name: string) => {
    const result = rows.find(({ id }) => id === `flows-new-${callers}`)?.results.get(name);
    if (!result) throw new Error(`flows were not measured: ${callers} in flight, ${name}`);
    return result;
  };
  const cpu = (name: string) => {
    const { serverCpu, databaseCpu } = of(32, name);
    return serverCpu + databaseCpu;
  };
  const rates = [
    { callers: 8, peer: names.oidcMongo, bound: 1.5 },
    { callers: 32, peer: names.oidcMongo, bound: 3 },
    { callers: 64, peer: names.oidcMongo, bound: 3.5 },
    { callers: 32, peer: names.oidcMemory, bound: 0.6 },
  ];
  const commands = [
    { callers: 32, bound: 4 },
    { callers: 1, bound: 20 },
  ];
  return [
    ...rates.map(({ callers, peer, bound }) =>
      checkBound({
        title: `flows, new users, ${callers} in flight: rate ÷ ${peer}`,
        value: of(callers, names.ours).rate / of(callers, peer).rate,
        ...{ sign: '≥', bound, show: times },
      }),
    ),
    checkBound({
      title: `flows, new users, 32 in flight: processor time ÷ ${names.oidcMongo}`,
      value: cpu(names.ours) / cpu(names.oidcMongo),
      ...{ sign: '≤', bound: 0.3, show: times },
    }),
    ...commands.map(({ callers, bound }) =>
      checkBound({
        title: `flows, new users, ${callers} in flight: database commands a flow`,
        value: of(callers, names.ours).commands,
        ...{ sign: '≤', bound, show: (value: number) => value.toFixed(1) },
      }),
    ),
  ];
}

export function checkOverload({ capacity, goodput, recoverySeconds }: OverloadFigures): Verdict[] {
  const title = '768 callers: goodput ÷ capacity';
  const overloaded = checkBound({ title, value: goodput / capacity, sign: '≥', bound: 0.7, show: times });
  if (recoverySeconds === undefined) return [overloaded];
  const show = (value: number) => `${value.toFixed(1)} s`;
  const recovered = { title: 'recovery after 15 s without the database', value: recoverySeconds };
  return [overloaded, checkBound({ ...recovered, sign: '≤', bound: 5, show })];
}

/** The targets of several processes ÷ one process: at least this rate, at most this processor time of an exchange. */
const spread = [
  { wallets: 'one', processes: 2, rate: 1, cpu: 1.4 },
  { wallets: 'one', processes: 4, rate: 0.9, cpu: 1.4 },
  { wallets: 'one', processes: 8, rate: undefined, cpu: 1.4 },
  { wallets: 'many', processes: 2, rate: 1, cpu: 1.4 },
] as const;

/** Targets: more processes are not slower, and no process answers less than half of an equal share. */
export function checkHotWallet(rows: readonly HotRow[]): Verdict[] {
  const of = (wallets: HotRow['wallets'], processes: number) =>
    rows.find((row) => row.wallets === wallets && row.processes === processes);
  const cost = ({ serverCpu, databaseCpu }: HotRow) => serverCpu + databaseCpu;
  const compared = spread.flatMap(({ wallets, processes, rate: least, cpu }) => {
    const [alone, several] = [of(wallets, 1), of(wallets, processes)];
    if (!alone || !several) return [];
    const title = `${wallets === 'one' ? 'one wallet' : '200 wallets'}, ${processes} processes`;
    const rates = { title: `${title}: rate ÷ one process`, value: several.rate / alone.rate };
    const costs = { title: `${title}: server + database ÷ one process`, value: cost(several) / cost(alone) };
    return [
      ...(least === undefined ? [] : [checkBound({ ...rates, sign: '≥', bound: least, show: times })]),
      checkBound({ ...costs, sign: '≤', bound: cpu, show: times }),
    ];
  });
  const shares = rows.filter(({ processes }) => processes > 1);
  return [
    ...compared,
    ...shares.map(({ wallets, processes, shares: [least] }) =>
      checkBound({
        title: `${wallets === 'one' ? 'one wallet' : '200 wallets'}, ${processes} processes: least answers of a process ÷ equal share`,
        value: least,
        sign: '≥',
        bound: 0.5,
        show: times,
      }),
    ),
  ];
}

/** Target: a partner at its cap does not slow another partner. */
export function checkFairness(rows: readonly FairnessRow[]): Verdict[] {
  const p99Of = (id: FairnessId) => rows.find((row) => row.id === id)?.p99 ?? Number.NaN;
  const beside = { spend: 'spend cap', requests: 'request limit' } as const;
  return (['spend', 'requests'] as const).map((id) =>
    checkBound({
      title: `quiet beside noisy at its ${beside[id]}: p99 ÷ alone`,
      value: p99Of(id) / p99Of('alone'),
      sign: '<',
      bound: 1.2,
      show: times,
    }),
  );
}

/** Targets: no lost event, prompt delivery, fast recovery, and no delay of healthy endpoints by others. */
export function checkWebhooks({ rows, counted }: WebhookFigures): Verdict[] {
  const of = (id: WebhookRow['id']) => {
    const row = rows.find((each) => each.id === id);
    if (!row) throw new Error(`webhooks were not measured: ${id}`);
    return row;
  };
  const [idle, alone, beside, drain] = [of('idle'), of('alone'), of('beside'), of('drain')];
  const kept = beside.delivered / alone.delivered;
  return [
    checkBound({ title: 'webhooks: lost', value: counted.lost, sign: '=', bound: 0, show: String }),
    checkBound({ title: 'webhooks, idle: p99', value: idle.p99, sign: '<', bound: 100, show: milliseconds }),
    checkBound({
      title: `webhooks, ${drain.events.toLocaleString('en-US')} due at once: rate`,
      ...{ value: drain.delivered, sign: '≥', bound: 1000, show: perSecond },
    }),
    checkBound({
      title: 'webhooks, healthy beside others: p99',
      value: beside.p99,
      sign: '<',
      bound: 1000,
      show: milliseconds,
    }),
    checkBound({
      title: 'webhooks, healthy: rate beside others ÷ alone',
      value: kept,
      sign: '≥',
      bound: 0.9,
      show: times,
    }),
  ];
}

export const checkCli = (commands: readonly CliStartup[]): Verdict[] =>
  commands.map(({ command, medianMs }) =>
    checkBound({
      title: `\`${command}\`: median`,
      value: medianMs,
      sign: '≤',
      bound: 350,
      show: milliseconds,
    }),
  );

export const checkPresentations = (costs: readonly PresentationCost[]): Verdict[] =>
  costs.map(({ format, processorMs }) =>
    checkBound({
      title: `verifying an ${format}: processor time`,
      value: processorMs,
      sign: '≤',
      bound: 20,
      show: milliseconds,
    }),
  );
