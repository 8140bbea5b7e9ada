import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Eta } from 'eta';
import type { Mode } from '../../contracts/identifiers.ts';
import type { DatabaseFault } from '../platform/database/availability.ts';
import type { RecordPage } from './ops-cells.ts';
import { style } from './ops-style.ts';
import { dollars, timeOf } from './ops-text.ts';
import { type Overview, type Owner, recentMinutes } from './overview-store.ts';

/** Only the page's own style, and nothing else from anywhere. */
export const opsPagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** Templates escape everything by default. */
const eta = new Eta({ views: fileURLToPath(new URL('./pages', import.meta.url)), cache: true });

/** Commands that the page names, with the heading of each in docs/cli.md. */
const commands = {
  'webhooks show': 'svcadmin-webhooks-show-key',
  'deliveries list': 'svcadmin-deliveries-list',
  'deliveries show': 'svcadmin-deliveries-show-delivery',
  'jobs list': 'svcadmin-jobs-list',
  'limits show': 'svcadmin-limits-show-partner',
  request: 'svcadmin-request-request',
  'wallets show': 'svcadmin-wallets-show-partner',
  'warnings list': 'svcadmin-warnings-list',
  'wallets audit': 'svcadmin-wallets-audit-partner',
} as const;
/** Headings of docs/cli.md that the page links to. */
export const opsAnchors: readonly string[] = Object.values(commands);

/** A text, which may lead to a page, with a note below it or without one; or a command that helps. */
type Cell =
  | { text: string | number; note?: string; to?: string }
  | { command: string; href: string | undefined };
type Help = (command: keyof typeof commands, rest?: string) => Cell;

interface Table {
  title: string;
  headings: readonly string[];
  rows: readonly (readonly Cell[])[];
}

const texts = (...values: readonly (string | number)[]): Cell[] => values.map((text) => ({ text }));
const age = (at: Date, since: Date | undefined): string =>
  since ? `${Math.max(0, Math.round((at.getTime() - since.getTime()) / 1000))} s` : '–';
const named = ({ partner, partnerId }: Pick<Owner, 'partner' | 'partnerId'>): Cell => ({
  text: partner,
  to: `/ops/partner/${partnerId}`,
  ...(partner === partnerId ? {} : { note: partnerId }),
});

/** Seconds after which the browser reloads the page. */
export const opsRefreshSeconds = 15;
/** Milliseconds that a ledger page may stay unpublished: sweeps run every 15 s. */
const longestUnpublishedMs = 60_000;

interface Options {
  /** Whether the browser reloads the page, by the `Refresh` header of the answer. */
  reloading?: boolean;
  /** Address of the guides; without it there are no links. */
  guides?: string | undefined;
  /** Why the figures are not of now. */
  away?: DatabaseFault | undefined;
}

/** Open problems, each with the command that helps. */
function tasks(overview: Overview, help: Help) {
  const { at, lateByMode, jobs, pages, failingEndpoints, lowWallets, cappedWallets } = overview;
  const list: [boolean, string, Cell][] = [
    ...(['live', 'test'] as const).map((mode): [boolean, string, Cell] => [
      lateByMode[mode] > 0,
      `${lateByMode[mode]} ${mode} deliveries are due and not sent`,
      help('deliveries list', `--status waiting --mode ${mode}`),
    ]),
    [jobs.late > 0, `${jobs.late} jobs are late`, help('jobs list')],
    [jobs.failed > 0, `${jobs.failed} jobs have failed`, help('jobs list')],
    [
      pages.oldestAt !== undefined && at.getTime() - pages.oldestAt.getTime() > longestUnpublishedMs,
      `Events of a ledger page are unpublished for ${age(at, pages.oldestAt)}`,
      help('wallets audit'),
    ],
    ...failingEndpoints.map(({ keyId, failed, partner, mode }): [boolean, string, Cell] => [
      mode === 'live',
      `${failed} live deliveries of ${partner} failed within a day`,
      help('webhooks show', keyId),
    ]),
    ...lowWallets.map(({ partner, partnerId, balance }): [boolean, string, Cell] => [
      true,
      `The live wallet of ${partner} has ${dollars(balance)} left`,
      help('wallets show', `${partnerId} --mode live`),
    ]),
    ...cappedWallets.map(({ partner, partnerId, mode, bucket }): [boolean, string, Cell] => [
      mode === 'live',
      `${partner} has reached its live cap of this ${bucket}`,
      help('limits show', `${partnerId} --mode live`),
    ]),
  ];
  return list.filter(([isDue]) => isDue).map(([, text, command]) => ({ text, command }));
}

/** The tables of one mode, without empty ones. */
function tablesOf(mode: Mode | undefined, overview: Overview, help: Help): Table[] {
  const own = <T extends { mode?: Mode }>(rows: readonly T[]) => rows.filter((row) => row.mode === mode);
  const tables: Table[] = [
    {
      title: `Errors of requests, last ${recentMinutes} minutes`,
      headings: ['Count', 'Status', 'Error', 'Route', 'Partner', 'The last one'],
      rows: own(overview.recentErrors).map(
        ({ count, status, error, route, requestId, partner, partnerId }) => [
          ...texts(count, status, error, route),
          partner && partnerId ? named({ partner, partnerId }) : { text: '' },
          help('request', requestId),
        ],
      ),
    },
    {
      title: 'Failing endpoints, last 24 hours',
      headings: ['Partner', 'Failed', 'Last error', 'Which'],
      rows: own(overview.failingEndpoints).map(({ keyId, failed, lastError, ...of }) => [
        named(of),
        { text: failed, to: `/ops/endpoint/${keyId}` },
        ...texts(lastError || 'unknown'),
        help('deliveries list', `--key ${keyId} --status failed`),
      ]),
    },
    {
      title: 'Warnings to partners',
      headings: ['Partner', 'Warning', 'Since (UTC)', 'More'],
      rows: own(overview.warnings).map(({ text, since, ...of }) => [
        named(of),
        ...texts(text, timeOf(since)),
        help('warnings list', `--partner ${of.partnerId}`),
      ]),
    },
    {
      title: 'Wallets near empty',
      headings: ['Partner', 'Balance', 'Days left', 'More'],
      rows: own(overview.lowWallets).map(({ balance, daysLeft, ...of }) => [
        named(of),
        { text: dollars(balance), to: `/ops/wallet/${of.partnerId}:${of.mode}` },
        ...texts(daysLeft ?? '–'),
        help('wallets show', `${of.partnerId} --mode ${of.mode}`),
      ]),
    },
    {
      title: 'At their spend cap now',
      headings: ['Partner', 'Bucket', 'Cap', 'More'],
      rows: own(overview.cappedWallets).map(({ bucket, limit, ...of }) => [
        named(of),
        ...texts(bucket, limit),
        help('limits show', `${of.partnerId} --mode ${of.mode}`),
      ]),
    },
    {
      title: 'Next webhook attempts',
      headings: ['At (UTC)', 'Partner', 'Event', 'Attempt', 'Last error', 'More'],
      rows: own(overview.nextAttempts).map(({ at, event, attempt, deliveryId, lastError, ...of }) => [
        ...texts(timeOf(at)),
        named(of),
        { text: event, to: `/ops/delivery/${deliveryId}` },
        ...texts(attempt, lastError),
        help('deliveries show', deliveryId),
      ]),
    },
  ];
  return tables.filter(({ rows }) => rows.length > 0);
}

/** Figures of the whole service. `bad` ones need an operator. */
function groupsOf({ at, deliveries, jobs, pages }: Overview) {
  const { pending = 0, in_flight: inFlight = 0, failed = 0 } = deliveries.byStatus;
  const late = deliveries.late > 0;
  return [
    {
      title: 'Webhook deliveries',
      figures: [
        { name: 'pending', value: pending },
        { name: 'in flight', value: inFlight },
        { name: 'late', value: deliveries.late, bad: late },
        { name: 'longest due', value: age(at, deliveries.oldestDueAt), bad: late },
        { name: 'failed, 30 days', value: failed },
      ],
    },
    {
      title: 'Jobs',
      figures: [
        { name: 'waiting', value: jobs.waiting },
        { name: 'late', value: jobs.late, bad: jobs.late > 0 },
        { name: 'failed', value: jobs.failed, bad: jobs.failed > 0 },
      ],
    },
    {
      title: 'Ledger',
      figures: [
        { name: 'unpublished pages', value: pages.unpublished },
        { name: 'age of the oldest', value: age(at, pages.oldestAt) },
      ],
    },
  ];
}

/** What the page says of a database that is away, and of the age of its figures. */
function describeAway({ reason, since }: DatabaseFault, overview: { at: Date } | undefined) {
  const figures = overview
    ? `What follows is of ${timeOf(overview.at)} UTC.`
    : 'This process has not shown its figures since it started.';
  return { title: `The database is away since ${timeOf(since)} UTC`, reason, figures };
}

/** The page of one record. @param page undefined where it was never read */
export function renderRecordPage(
  page: { value: RecordPage; at: Date } | undefined,
  away: DatabaseFault | undefined,
): string {
  return eta.render('./ops-record', {
    style,
    page: page?.value,
    at: page && timeOf(page.at),
    away: away && describeAway(away, page),
  });
}

/** `/ops`: a page without scripts and without actions. @param overview undefined where it was never read */
export function renderOpsPage(
  overview: Overview | undefined,
  { reloading = true, guides, away }: Options = {},
): string {
  const help: Help = (command, rest = '') => ({
    command: `svcadmin ${command}${rest && ` ${rest}`}`,
    href: guides && `${guides}/cli#${commands[command]}`,
  });
  const empty = 'Nothing to show';
  return eta.render('./ops', {
    style,
    at: overview && timeOf(overview.at),
    away: away && describeAway(away, overview),
    reloading,
    reloadSeconds: opsRefreshSeconds,
    tasks: overview ? tasks(overview, help) : [],
    groups: overview ? groupsOf(overview) : [],
    sections: overview
      ? [
          { title: 'Live', live: true, tables: tablesOf('live', overview, help), empty },
          { title: 'Test', tables: tablesOf('test', overview, help), empty },
          { title: 'Of no known client', tables: tablesOf(undefined, overview, help) },
        ]
      : [],
  });
}
