import { createHash } from 'node:crypto';
import type { Mode } from '../../contracts/identifiers.ts';
import { style } from './ops-style.ts';
import { type Overview, type Owner, recentMinutes } from './overview-store.ts';

/** Only the page's own style, and nothing else from anywhere. */
export const opsPagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const inert = (value: string | number): string =>
  String(value).replace(/[&<>"']/g, (found) => entities[found] ?? '');

/** Commands that the page names, with the heading of each in docs/cli.md. */
const commands = {
  'webhooks show': 'svcadmin-webhooks-show-key',
  'deliveries list': 'svcadmin-deliveries-list',
  'deliveries show': 'svcadmin-deliveries-show-delivery',
  'jobs list': 'svcadmin-jobs-list',
  'limits show': 'svcadmin-limits-show-partner',
  request: 'svcadmin-request-request',
  'wallets show': 'svcadmin-wallets-show-partner',
  'wallets audit': 'svcadmin-wallets-audit-partner',
} as const;
/** Headings of docs/cli.md that the page leads to. */
export const opsAnchors: readonly string[] = Object.values(commands);

interface Figure {
  name: string;
  value: string | number;
  /** Whether an operator should act. */
  bad?: boolean;
}

function figures(title: string, list: readonly Figure[]): string {
  const items = list.map(
    ({ name, value, bad = false }) =>
      `<div><dt>${inert(name)}</dt><dd${bad ? ' class="bad"' : ''}>${inert(value)}</dd></div>`,
  );
  return `<section><h2>${inert(title)}</h2><dl>${items.join('')}</dl></section>`;
}

/** Markup of ours, which is not escaped again. */
interface Markup {
  html: string;
}
type Cell = string | number | Markup;

const shown = (cell: Cell) => (typeof cell === 'object' ? cell.html : inert(cell));

function table(title: string, headings: readonly string[], rows: readonly (readonly Cell[])[]): string {
  if (rows.length === 0) return '';
  const cells = (tag: string, row: readonly Cell[]) =>
    row.map((cell) => `<${tag}>${shown(cell)}</${tag}>`).join('');
  const lines = rows.map((row) => `<tr>${cells('td', row)}</tr>`);
  return `<section class="wide"><h2>${inert(title)}</h2><table><thead><tr>${cells('th', headings)}</tr></thead><tbody>${lines.join('')}</tbody></table></section>`;
}

const dollars = (cents: number): string => `${(cents / 100).toFixed(2)} USD`;
const timeOf = (at: Date): string => at.toISOString().slice(0, 19).replace('T', ' ');
const age = (at: Date, since: Date | undefined): string =>
  since ? `${Math.max(0, Math.round((at.getTime() - since.getTime()) / 1000))} s` : '–';
const named = ({ partner, partnerId }: Pick<Owner, 'partner' | 'partnerId'>): Markup => ({
  html: partner === partnerId ? inert(partner) : `${inert(partner)}<small>${inert(partnerId)}</small>`,
});

/** Seconds after which the page is asked for again. */
export const opsRefresh = 15;
/** Seconds that a page of the ledger may wait: sweeps come every 15 s. */
const longestUnpublished = 60_000;

interface Options {
  /** Whether the page is shown again by itself, which the answer's `Refresh` header brings about. */
  reloading?: boolean;
  /** Where the guides are; no link without it. */
  guides?: string | undefined;
}

/** What an operator should do now, with the command that helps. */
function tasks(overview: Overview, help: (command: keyof typeof commands, rest?: string) => Markup) {
  const { at, lateByMode, jobs, pages, failingEndpoints, lowWallets, cappedWallets } = overview;
  const list: [boolean, string, Markup][] = [
    ...(['live', 'test'] as const).map((mode): [boolean, string, Markup] => [
      lateByMode[mode] > 0,
      `${lateByMode[mode]} ${mode} deliveries are due and not sent`,
      help('deliveries list', `--status waiting --mode ${mode}`),
    ]),
    [jobs.late > 0, `${jobs.late} jobs are late`, help('jobs list')],
    [jobs.failed > 0, `${jobs.failed} jobs have failed`, help('jobs list')],
    [
      pages.oldestAt !== undefined && at.getTime() - pages.oldestAt.getTime() > longestUnpublished,
      `Events of a ledger page wait since ${age(at, pages.oldestAt)}`,
      help('wallets audit'),
    ],
    ...failingEndpoints.map(({ keyId, failed, partner, mode }): [boolean, string, Markup] => [
      mode === 'live',
      `${failed} live deliveries of ${partner} failed within a day`,
      help('webhooks show', keyId),
    ]),
    ...lowWallets.map(({ partner, partnerId, balance }): [boolean, string, Markup] => [
      true,
      `The live wallet of ${partner} has ${dollars(balance)} left`,
      help('wallets show', `${partnerId} --mode live`),
    ]),
    ...cappedWallets.map(({ partner, partnerId, mode, bucket }): [boolean, string, Markup] => [
      mode === 'live',
      `${partner} has reached its live cap of this ${bucket}`,
      help('limits show', `${partnerId} --mode live`),
    ]),
  ];
  return list.filter(([isDue]) => isDue).map(([, text, command]) => ({ text, command }));
}

/** Test and live have nothing in common but their tables. */
function tablesOf(
  mode: Mode | undefined,
  overview: Overview,
  help: (command: keyof typeof commands, rest?: string) => Markup,
): string {
  const own = <T extends { mode?: Mode }>(rows: readonly T[]) => rows.filter((row) => row.mode === mode);
  const failing = own(overview.failingEndpoints).map(({ keyId, failed, lastError, ...of }) => [
    ...[named(of), failed, lastError || 'unknown'],
    help('deliveries list', `--key ${keyId} --status failed`),
  ]);
  const low = own(overview.lowWallets).map(({ balance, ...of }) => [
    ...[named(of), dollars(balance)],
    help('wallets show', `${of.partnerId} --mode ${of.mode}`),
  ]);
  const capped = own(overview.cappedWallets).map(({ bucket, limit, ...of }) => [
    ...[named(of), bucket, limit],
    help('limits show', `${of.partnerId} --mode ${of.mode}`),
  ]);
  const next = own(overview.nextAttempts).map(({ at, event, attempt, deliveryId, lastError, ...of }) => [
    ...[timeOf(at), named(of), event, attempt, lastError],
    help('deliveries show', deliveryId),
  ]);
  const errors = own(overview.recentErrors).map(
    ({ count, status, error, route, requestId, partner, partnerId }) => [
      ...[count, status, error, route],
      ...[partner && partnerId ? named({ partner, partnerId }) : '', help('request', requestId)],
    ],
  );
  return [
    table(
      `Errors of requests, last ${recentMinutes} minutes`,
      ['Count', 'Status', 'Error', 'Route', 'Partner', 'The last one'],
      errors,
    ),
    table('Failing endpoints, last 24 hours', ['Partner', 'Failed', 'Last error', 'Which'], failing),
    table('Wallets near empty', ['Partner', 'Balance', 'More'], low),
    table('At their spend cap now', ['Partner', 'Bucket', 'Cap', 'More'], capped),
    table('Next webhook attempts', ['At (UTC)', 'Partner', 'Event', 'Attempt', 'Last error', 'More'], next),
  ].join('\n');
}

/** The page that ops keep open: no script, and nothing on it changes anything. */
export function renderOpsPage(overview: Overview, { reloading = true, guides }: Options = {}): string {
  const { at, deliveries, jobs, pages } = overview;
  const { pending = 0, in_flight: inFlight = 0, failed = 0 } = deliveries.byStatus;
  const help = (command: keyof typeof commands, rest = ''): Markup => {
    const text = `<code>svcadmin ${command}${rest && ` ${inert(rest)}`}</code>`;
    return { html: guides ? `<a href="${inert(guides)}/cli#${commands[command]}">${text}</a>` : text };
  };
  const due = tasks(overview, help);
  const items = due.map(({ text, command }) => `<li>${inert(text)}<br>${command.html}</li>`);
  const section = (title: string, mode: Mode | undefined) => {
    const tables = tablesOf(mode, overview, help);
    const heading = `<h2 class="mode${mode === 'live' ? ' live' : ''}">${title}</h2>`;
    if (tables.trim() !== '') return heading + tables;
    return mode ? `${heading}<section class="wide"><p>Nothing to show</p></section>` : '';
  };
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${due.length > 0 ? '(!) ' : ''}Operations · SVC Gateway</title><style>${style}</style></head>
<body><header><h1>Operations</h1>
<p><span class="state${due.length > 0 ? ' bad' : ''}">${due.length > 0 ? 'Needs attention' : 'All is well'}</span> · ${timeOf(at)} UTC · ${
    reloading
      ? `reloads every ${opsRefresh} s · <a href="?still">Stop reloading</a>`
      : '<a href="?">Reload by itself</a>'
  }</p></header><main>
${items.length > 0 ? `<section class="wide"><h2>Needs a hand</h2><ul>${items.join('')}</ul></section>` : ''}
${figures('Webhook deliveries', [
  { name: 'pending', value: pending },
  { name: 'in flight', value: inFlight },
  { name: 'late', value: deliveries.late, bad: deliveries.late > 0 },
  { name: 'longest due', value: age(at, deliveries.oldestDueAt), bad: deliveries.late > 0 },
  { name: 'failed, 30 days', value: failed },
])}
${figures('Jobs', [
  { name: 'waiting', value: jobs.waiting },
  { name: 'late', value: jobs.late, bad: jobs.late > 0 },
  { name: 'failed', value: jobs.failed, bad: jobs.failed > 0 },
])}
${figures('Ledger', [
  { name: 'pages with events to publish', value: pages.unpublished },
  { name: 'the oldest of them', value: age(at, pages.oldestAt) },
])}
${section('Live', 'live')}
${section('Test', 'test')}
${section('Of no known client', undefined)}
</main></body></html>
`;
}
