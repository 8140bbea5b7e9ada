import type { CliStartup } from './cli-startup.ts';
import { manyPartners } from './contenders/contender.ts';
import type { FairnessRow } from './fairness/rows.ts';
import type { FlowFigures, FlowMeasurement } from './flows/rows.ts';
import { type HotRow, hotCallers } from './hot/hot.ts';
import type { PresentationCost } from './identity-wallet-presentations.ts';
import type { OverloadFigures } from './overload/overload.ts';
import type { ProfileSummary } from './profile.ts';
import type { Row } from './rounds.ts';
import { type Share, sharesOf } from './shares.ts';
import { names } from './subject-names.ts';
import type { Verdict } from './targets.ts';
import type { QueueFigures, QueueResult } from './webhooks/queues/queues.ts';
import type { WebhookFigures } from './webhooks/rows.ts';

export const whole = (value: number) => Math.round(value).toLocaleString('en-US');
const ms = (value: number) => (value < 10 ? value.toFixed(1) : value.toFixed(0));
export const micros = (value: number) => (Number.isNaN(value) ? '?' : value.toFixed(0));
const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

function table(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const rule = head.map((_, n) => (n === 0 ? '---' : '--:'));
  return [head, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** One line per case, one column per contender. */
function byContender<Result>(
  rows: readonly { title: string; results: ReadonlyMap<string, Result> }[],
  cell: (result: Result) => string,
): string {
  const names = [...new Set(rows.flatMap(({ results }) => [...results.keys()]))];
  const lines = rows.map(({ title, results }) => [
    title,
    ...names.map((name) => {
      const result = results.get(name);
      return result ? cell(result) : '–';
    }),
  ]);
  return table(['', ...names], lines);
}

function requestsText(rows: readonly Row[]): string[] {
  return [
    '## Requests per second (p50 / p99 in ms)',
    byContender(rows, ({ rate, p50, p99 }) => `${whole(rate)} (${ms(p50)} / ${ms(p99)})`),
  ];
}

function processorText(rows: readonly Row[]): string[] {
  return [
    '## Processor time per request in µs: server + database + load generator',
    byContender(
      rows,
      ({ serverCpu, databaseCpu, loadCpu }) =>
        `${micros(serverCpu)} + ${micros(databaseCpu)} + ${micros(loadCpu)}`,
    ),
  ];
}

/** Database commands for single callers, because batches reduce them for many. */
function commandsText(rows: readonly Row[]): string[] {
  return ['## Database commands per request', byContender(rows, ({ commands }) => commands.toFixed(1))];
}

function sharesText(shares: readonly Share[]): string[] {
  if (shares.length === 0) return [];
  const lines = shares.map(({ title, ours, peer }) => [
    title,
    micros(ours),
    micros(peer),
    `${(ours / peer).toFixed(2)}×`,
  ]);
  return [
    `## Processor time of server and database in µs, as a share of that of ${names.oidcMongo}`,
    table(['', names.ours, names.oidcMongo, 'share'], lines),
  ];
}

const walletsText = { one: 'one wallet', many: `${manyPartners} wallets` } as const;

function hotText(rows: readonly HotRow[]): string[] {
  const lines = rows.map((row) => {
    const { wallets, processes, rate, p50, p99, serverCpu, databaseCpu, shares, repeated } = row;
    const alone = rows.find((each) => each.wallets === wallets && each.processes === 1);
    const cpu = serverCpu + databaseCpu;
    const cpuAlone = alone ? alone.serverCpu + alone.databaseCpu : Number.NaN;
    return [
      `${walletsText[wallets]}, ${processes} ${processes === 1 ? 'process' : 'processes'}`,
      `${whole(rate)} (${ms(p50)} / ${ms(p99)})`,
      `${(rate / (alone?.rate ?? Number.NaN)).toFixed(2)}×`,
      `${micros(serverCpu)} + ${micros(databaseCpu)}`,
      `${(cpu / cpuAlone).toFixed(2)}×`,
      shares.map((share) => `${share.toFixed(2)}×`).join(', '),
      whole(repeated),
    ];
  });
  return [
    `## One wallet, and ${manyPartners}: ${hotCallers} callers in all, spread over so many server processes`,
    table(
      [
        '',
        'exchanges/s (p50 / p99 in ms)',
        '÷ one process',
        'µs of server + database',
        '÷ one process',
        'answers of each process ÷ equal share',
        '503',
      ],
      lines,
    ),
  ];
}

function overloadText({ capacity, goodput, shed, recoverySeconds }: OverloadFigures): string[] {
  return [
    '## One server process with three times the requests that it takes, and after 15 s without its database',
    table(
      ['', 'exchanges/s', '503'],
      [
        ['64 callers', whole(capacity), '0'],
        ['768 callers, who repeat 30 ms after a 503', whole(goodput), whole(shed)],
      ],
    ),
    ...(recoverySeconds === undefined
      ? []
      : [`70 % of the capacity are back ${recoverySeconds.toFixed(1)} s after the database.`]),
  ];
}

function flowsText({ rows, journeys }: FlowFigures): string[] {
  const cell = (show: (result: FlowMeasurement) => string) => byContender(rows, show);
  const lines = journeys.map(({ title, rate, p50, p99, serverCpu, databaseCpu }) => [
    title,
    rate.toFixed(1),
    `${ms(p50)} / ${ms(p99)}`,
    `${micros(serverCpu)} + ${micros(databaseCpu)}`,
  ]);
  return [
    '## Hosted flows per second (p50 / p99 of a flow in ms)',
    cell(({ rate, p50, p99 }) => `${rate.toFixed(1)} (${ms(p50)} / ${ms(p99)})`),
    '## Hosted flows: database commands and HTTP requests per flow',
    cell(({ commands, requests }) => `${commands.toFixed(1)}; ${requests.toFixed(1)}`),
    '## Hosted flows: processor time per flow in µs: server + database + client',
    cell(
      ({ serverCpu, databaseCpu, loadCpu }) =>
        `${micros(serverCpu)} + ${micros(databaseCpu)} + ${micros(loadCpu)}`,
    ),
    '## Whole journeys per second: flow, exchange, userinfo, and the webhooks of both',
    table(['', 'journeys/s', 'p50 / p99 to the claims in ms', 'µs of server + database'], lines),
  ];
}

function fairnessText(rows: readonly FairnessRow[]): string[] {
  const alone = rows.find(({ id }) => id === 'alone')?.p99 ?? Number.NaN;
  const lines = rows.map(({ id, title, rate, p50, p99, p99s, noisy }) => [
    title,
    whole(rate),
    ms(p50),
    ms(p99),
    p99s.map(ms).join(', '),
    id === 'alone' ? '–' : `${(p99 / alone).toFixed(2)}×`,
    ...(noisy ? [noisy.granted, noisy.refused].map((value) => value.toFixed(1)) : ['–', '–']),
  ]);
  return [
    '## A quiet partner beside a noisy one at its cap: exchanges per second, ms, and answers to the noisy one',
    table(['quiet', 'exchanges/s', 'p50', 'p99', 'of each turn', 'p99 ÷ alone', '200/s', '429/s'], lines),
  ];
}

function webhooksText({ rows, counted }: WebhookFigures): string[] {
  const lines = rows.map(({ title, events, accepted, delivered, p50, p95, p99, cpu }) => [
    title,
    whole(events),
    accepted === undefined ? '–' : whole(accepted),
    whole(delivered),
    ...[p50, p95, p99].map(ms),
    cpu ? `${micros(cpu.server)} + ${micros(cpu.database)}` : '–',
  ]);
  const [alone, beside] = ['alone', 'beside'].map((wanted) => rows.find(({ id }) => id === wanted));
  const ratio = (measure: 'p50' | 'p99') => ((beside?.[measure] ?? 0) / (alone?.[measure] ?? 0)).toFixed(2);
  return [
    '## Webhooks: events per second, ms from due to sent, and µs of server + database per event',
    table(['', 'events', 'accepted/s', 'delivered/s', 'p50', 'p95', 'p99', 'processor time'], lines),
    `Healthy endpoints, beside the others ÷ alone: p50 ${ratio('p50')}×, p99 ${ratio('p99')}×.`,
    `By the receiver's own count, of ${whole(counted.events)} events: ${counted.lost} lost, ${counted.duplicates} duplicated.`,
  ];
}

function queuesText({ rows, absent }: QueueFigures): string[] {
  const cell = (show: (result: QueueResult) => string) => byContender(rows, show);
  const repeated = cell(({ duplicates }) => whole(duplicates));
  return [
    '## Webhooks beside queues: deliveries per second (p50 / p99 in ms from due to arrived)',
    cell(({ rate, p50, p99 }) => `${whole(rate)} (${ms(p50)} / ${ms(p99)})`),
    '## Webhooks beside queues: processor time per delivery in µs, without idle work: sender + database',
    cell(({ sender, database }) => `${micros(sender)} + ${micros(database)}`),
    ...(rows.some(({ results }) => [...results.values()].some(({ duplicates }) => duplicates > 0))
      ? ['Repeated POSTs:', repeated]
      : ['No event arrived twice.']),
    ...absent.map((text) => `Not measured: ${text}.`),
  ];
}

function cliText(commands: readonly CliStartup[]): string[] {
  const lines = commands.map(({ command, medianMs, minMs }) => [`\`${command}\``, ms(medianMs), ms(minMs)]);
  return ['## `svcadmin` from start to end in ms', table(['', 'median', 'shortest'], lines)];
}

function presentationsText(costs: readonly PresentationCost[]): string[] {
  const lines = costs.map(({ format, processorMs }) => [format, processorMs.toFixed(1)]);
  return ['## Processor time of verifying a presentation in ms', table(['', 'each'], lines)];
}

function verdictsText(verdicts: readonly Verdict[]): string[] {
  const lines = verdicts.map(({ title, wanted, measured, met }) => [
    title,
    wanted,
    measured,
    met ? 'met' : '**missed**',
  ]);
  return ['## Against the targets', table(['one server process', 'target', 'measured', ''], lines)];
}

function profileText({ functions, places }: ProfileSummary): string {
  const top = (shares: ProfileSummary['functions'], count: number) =>
    shares.slice(0, count).map(({ name, share }) => [`\`${name}\``, percent(share)]);
  return [
    table(['package or folder', 'own time'], top(places, 15)),
    table(['function', 'own time'], top(functions, 25)),
  ].join('\n\n');
}

export interface Figures {
  rows: readonly Row[];
  verdicts: readonly Verdict[];
  profile?: ProfileSummary | undefined;
  hot?: readonly HotRow[] | undefined;
  overload?: OverloadFigures | undefined;
  flows?: FlowFigures | undefined;
  fairness?: readonly FairnessRow[] | undefined;
  webhooks?: WebhookFigures | undefined;
  queues?: QueueFigures | undefined;
  cli?: readonly CliStartup[] | undefined;
  wallets?: readonly PresentationCost[] | undefined;
}

/** The figures for the terminal and RESULTS.md. */
export function renderTables({
  rows,
  verdicts,
  profile,
  hot,
  overload,
  flows,
  fairness,
  webhooks,
  queues,
  cli,
  wallets,
}: Figures): string {
  return [
    ...(rows.length > 0 ? requestsText(rows) : []),
    ...(hot ? hotText(hot) : []),
    ...(overload ? overloadText(overload) : []),
    ...(flows ? flowsText(flows) : []),
    ...(fairness ? fairnessText(fairness) : []),
    ...(webhooks ? webhooksText(webhooks) : []),
    ...(queues ? queuesText(queues) : []),
    ...(cli ? cliText(cli) : []),
    ...(wallets ? presentationsText(wallets) : []),
    ...sharesText(sharesOf(rows, flows?.rows ?? [], webhooks)),
    ...(verdicts.length > 0 ? verdictsText(verdicts) : []),
    ...(rows.length > 0 ? [...processorText(rows), ...commandsText(rows)] : []),
    ...(profile
      ? ['## Where our server spends its time (64 callers, one partner)', profileText(profile)]
      : []),
  ].join('\n\n');
}

export const renderProfile = profileText;
