import type { CliStartup } from './cli-startup.ts';
import type { FairnessRow } from './fairness/rows.ts';
import type { FlowFigures, FlowMeasurement } from './flows/rows.ts';
import { type HotRow, hotCallers } from './hot/hot.ts';
import type { Ceiling } from './load/ceiling.ts';
import type { Measurement } from './measure.ts';
import type { OverloadFigures } from './overload/overload.ts';
import type { ProfileSummary } from './profile.ts';
import type { Row } from './rounds.ts';
import type { Verdict } from './targets.ts';
import type { PresentationCost } from './wallet-presentations.ts';
import type { WebhookFigures } from './webhooks/rows.ts';

export interface Facts {
  machine: string;
  versions: string;
  rounds: number;
  seconds: number;
  ceiling: Ceiling | undefined;
}

const whole = (value: number) => Math.round(value).toLocaleString('en-US');
const ms = (value: number) => (value < 10 ? value.toFixed(1) : value.toFixed(0));
const micros = (value: number) => (Number.isNaN(value) ? '?' : value.toFixed(0));
const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

function table(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const rule = head.map((_, n) => (n === 0 ? '---' : '--:'));
  return [head, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** A line a case, a column a contender. */
function byContender<Result extends Measurement>(
  rows: readonly Row<Result>[],
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

function hotText(rows: readonly HotRow[]): string[] {
  const alone = rows.find(({ processes }) => processes === 1)?.rate ?? Number.NaN;
  const lines = rows.map(({ processes, rate, p50, p99, shares, repeated }) => [
    `${processes} ${processes === 1 ? 'process' : 'processes'}`,
    `${whole(rate)} (${ms(p50)} / ${ms(p99)})`,
    `${(rate / alone).toFixed(2)}×`,
    shares.map((share) => `${share.toFixed(2)}×`).join(', '),
    whole(repeated),
  ]);
  return [
    `## One wallet, ${hotCallers} callers in all, spread over so many server processes`,
    table(
      ['', 'exchanges/s (p50 / p99 in ms)', '÷ one process', 'answers of each process ÷ equal share', '503'],
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

function cliText(commands: readonly CliStartup[]): string[] {
  const lines = commands.map(({ command, medianMs, minMs }) => [`\`${command}\``, ms(medianMs), ms(minMs)]);
  return ['## `svcadmin` from start to end in ms', table(['', 'median', 'shortest'], lines)];
}

function walletsText(costs: readonly PresentationCost[]): string[] {
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
  cli?: readonly CliStartup[] | undefined;
  wallets?: readonly PresentationCost[] | undefined;
}

/** The figures, as the terminal and RESULTS.md show them. */
export function renderTables({
  rows,
  verdicts,
  profile,
  hot,
  overload,
  flows,
  fairness,
  webhooks,
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
    ...(cli ? cliText(cli) : []),
    ...(wallets ? walletsText(wallets) : []),
    ...(verdicts.length > 0 ? verdictsText(verdicts) : []),
    ...(rows.length > 0 ? processorText(rows) : []),
    ...(profile
      ? ['## Where our server spends its time (64 callers, one partner)', profileText(profile)]
      : []),
  ].join('\n\n');
}

export const renderProfile = profileText;

const widest = 120;

/** Breaks prose into lines of at most 120 characters; headings and tables stay as they are. */
function wrapped(markdown: string): string {
  const wrap = (line: string) => {
    const indent = line.startsWith('- ') ? '  ' : '';
    const lines: string[] = [];
    let current = '';
    for (const word of line.split(' ')) {
      if (current !== '' && current.length + 1 + word.length > widest) {
        lines.push(current);
        current = indent + word;
      } else {
        current = current === '' ? word : `${current} ${word}`;
      }
    }
    return [...lines, current].join('\n');
  };
  return markdown
    .split('\n')
    .map((line) => (line.length <= widest || /^[|#]/.test(line) ? line : wrap(line)))
    .join('\n');
}

/** RESULTS.md. */
export function renderResults(facts: Facts, tables: string): string {
  const { machine, versions, rounds, seconds, ceiling } = facts;
  const limit = ceiling
    ? `The load generator reaches ${whole(ceiling.rate)} requests/s against an HTTP server that does nothing, at ${micros(ceiling.loadCpu)} µs of processor time each.`
    : '';
  return wrapped(`# Results of \`npm run bench\`

Written by the bench; run it again to replace it.

- Machine: ${machine}.
- Versions: ${versions}.
- Each figure of requests is the median of ${rounds} interleaved rounds (every server once, then every server again) of about ${seconds} s, after a warm-up.

How to read it: figures of shared machines vary from run to run; **ratios within one run** are what counts.
All processes share the machine's cores: server, database and load generator. Every request of the exchange rows
redeems a fresh code by \`authorization_code\` with PKCE and \`client_secret_post\`, exactly once; codes are prepared
before the clock starts. Every write that an answer relies on is confirmed from the journal (\`w: 1, j: true\`).
Each exchange of ours also charges the partner's wallet and is written to its ledger, and after every round tokens =
charges = ledger rows and every balance is the sum of its ledger, or the run fails. The peers bill nothing. They are
given their best case: clients from memory instead of the database, no ID token, no log. Userinfo is cold when the
server sees each token for the first time, warm when it has seen all of them before. Processor time per request
depends less on what else the machine does than requests per second do. ${limit}

One wallet: all callers redeem codes of one partner's client, and every charge is the next entry of the same ledger.
The rounds of one, two and four processes alternate; the processes that are not asked stay up. An equal share is the
answers of all processes divided by their number; the least and the greatest are medians of the rounds. A caller repeats
what is answered 503 after 30 ms; these answers are counted over all rounds.

Hosted flows: a user goes from the authorization request through both pages with a form, consent and log-in, to the code
in the redirect. The same client, in one process, sends what a browser without JavaScript does, each user over one
connection. New users are unknown to the server; returning ones have completed a flow with that partner, and each begins
in a browser without cookies. oidc-provider gets its best case: pages of one form, users who are a name, no look-up.
Database commands are the server's own count of reads and writes, without those of an idle second. A journey ends when
the partner has the claims; the rate counts to the last webhook, of two for each journey.

A partner at its cap: one server process, and a process for each partner that sends its requests. The quiet partner
sends exchanges evenly, far fewer than the server could answer; the noisy one may make 60 a minute and sends ten times
as many, evenly too, and then as many as are answered. In some rows its wallet's spend cap refuses it, in others its
client's request limit, with a 429 either way; it is brought to its cap before the clock starts, and what it is granted
is of minutes that begin while it sends. p50 and p99 are the quiet partner's, from sending to the end of the answer,
medians of short turns that alternate, alone and beside the noisy one. Where the turns of one row differ more than the
rows do, the ratio says little. After the run every partner was charged for exactly what it was granted, the noisy ones
within their caps, or the run fails.

Webhooks: returning users' codes are redeemed, and each exchange causes one event for its partner (\`vae.resolved\`). One
server process answers and sends; a hundred partners have an endpoint each, all in one other process. Accepted: the
exchange was answered. Delivered: the endpoint answered 2xx; the rate counts from the first exchange, or from when all
were due, to the last of these POSTs. Due to sent is by the server's clock, for every attempt; retries are due after
1 s. What hangs answers once the last exchange is answered. Lost and duplicated is what the endpoints themselves
counted, over everything that was sent.

${tables}
`);
}
