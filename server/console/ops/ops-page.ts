import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Eta } from 'eta';
import { dollars } from '../../../contracts/amounts.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import {
  type Overview as Figures,
  type Owner,
  recentMinutes,
} from '../../operations/overview/overview-store.ts';
import type { DatabaseFault } from '../../platform/database/availability.ts';
import type { ProcessSurvey } from '../../platform/jobs/processes.ts';
import { type Cell, type HelpWith, link, type RecordPage, type Table, texts, timeOf } from './ops-cells.ts';
import { clockTask, processTable, processTasks } from './ops-processes.ts';
import { style } from './ops-style.ts';

/** The Content-Security-Policy of the page: it allows the style of the page and nothing else. */
export const opsPagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** Templates escape everything by default. */
const eta = new Eta({ views: fileURLToPath(new URL('./pages', import.meta.url)), cache: true });

type Overview = Figures & ProcessSurvey;

/** Commands that the page names, each with its heading in docs/cli.md. */
const commands = {
  'webhooks show': 'svcadmin-webhooks-show-key',
  'deliveries list': 'svcadmin-deliveries-list',
  'deliveries show': 'svcadmin-deliveries-show-delivery',
  'jobs list': 'svcadmin-jobs-list',
  'limits show': 'svcadmin-limits-show-partner',
  request: 'svcadmin-request-request',
  'requests refused': 'svcadmin-requests-refused',
  'wallets show': 'svcadmin-wallets-show-partner',
  'warnings list': 'svcadmin-warnings-list',
  'wallets audit': 'svcadmin-wallets-audit-partner',
  doctor: 'svcadmin-doctor',
  status: 'svcadmin-status',
} as const;
/** Headings of docs/cli.md that the page links to. */
export const opsAnchors: readonly string[] = Object.values(commands);

type Help = HelpWith<keyof typeof commands>;

const ageText = (at: Date, since: Date | undefined): string =>
  since ? `${Math.max(0, Math.round((at.getTime() - since.getTime()) / 1000))} s` : '–';
const partnerCell = ({ partner, partnerId }: Pick<Owner, 'partner' | 'partnerId'>): Cell => ({
  ...link('partner', partnerId, partner),
  ...(partner === partnerId ? {} : { note: partnerId }),
});

/** Seconds after which the browser reloads the page. */
export const opsRefreshSeconds = 15;
/** A ledger page that stays unpublished for longer is a problem, in milliseconds. Sweeps run every 15 s. */
const longestUnpublishedMs = 60_000;

interface Options {
  /** Whether the `Refresh` header of the response makes the browser reload the page. */
  reloading?: boolean;
  /** Address of the guides. Without an address, commands are not links. */
  guides?: string | undefined;
  /** The fault of the database, if the figures are not up to date. */
  away?: DatabaseFault | undefined;
  /** Whether this process may decide about money by its clock. */
  clockTrusted?: boolean;
}

/** Says that counts of requests are not exact; empty if they are. */
const sampledText = ({ sampledSince }: Overview): string =>
  sampledSince === null ? '' : `: about, sampled since ${timeOf(new Date(sampledSince))} UTC`;

/** Whether a warning is an open problem by itself. The page reads those of wallets as they are now. */
const isTold = ({ kind }: Overview['warnings'][number]): boolean =>
  kind === 'endpoint_failing' || kind === 'secret_expiring';

/**
 * Lists the open problems, each with the command that helps. Failing endpoints and reached caps of test mode are left out, because
 * they affect no user.
 */
function openTasks(overview: Overview, help: Help) {
  const { at, lateByMode, jobs, pages, audit, failingEndpoints, lowWallets, cappedWallets } = overview;
  const { nextAttempts, troubledCallers, warnings, sampledSince } = overview;
  const about = sampledSince === null ? '' : 'about ';
  const tasks: { text: string; command: Cell }[] = processTasks(overview, help);
  const add = (text: string, command: Cell) => tasks.push({ text, command });
  const isLive = ({ mode }: Owner): boolean => mode === 'live';

  for (const mode of ['live', 'test'] as const) {
    const late = lateByMode[mode];
    if (late > 0)
      add(
        `${late} ${mode} deliveries are due and not sent`,
        help('deliveries list', `--status waiting --mode ${mode}`),
      );
  }
  if (jobs.late > 0) add(`${jobs.late} jobs are late`, help('jobs list'));
  if (jobs.failed > 0) add(`${jobs.failed} jobs have failed`, help('jobs list'));
  if (pages.oldestAt && at.getTime() - pages.oldestAt.getTime() > longestUnpublishedMs)
    add(`Events of a ledger page are unpublished for ${ageText(at, pages.oldestAt)}`, help('wallets audit'));
  for (const { keyId, failed, partner } of failingEndpoints.filter(isLive))
    add(`${failed} live deliveries of ${partner} failed within a day`, help('webhooks show', keyId));
  if (audit.faulty > 0)
    add(
      `The ledgers of ${audit.faulty} wallets do not add up: ${audit.wallets.join(', ')}`,
      help('wallets audit'),
    );
  // An endpoint of the list above has failed deliveries; these are still tried.
  const failed = new Set(failingEndpoints.filter(isLive).map(({ partnerId }) => partnerId));
  const retried = nextAttempts.filter((row) => isLive(row) && row.lastError && !failed.has(row.partnerId));
  for (const { partner, deliveryId, lastError } of new Map(
    retried.map((row) => [row.partnerId, row]),
  ).values())
    add(`Live webhooks to ${partner} fail: ${lastError}`, help('deliveries show', deliveryId));
  for (const { partner, partnerId, text } of warnings.filter((row) => isLive(row) && isTold(row)))
    add(`${partner}: ${text}`, help('warnings list', `--partner ${partnerId}`));
  for (const { partner, partnerId, count, reason, normal } of troubledCallers)
    add(
      reason === 'suspended'
        ? `${partner} is suspended, and sent ${about}${count} requests in ${recentMinutes} minutes`
        : `${about}${count} requests of ${partner} were refused in ${recentMinutes} minutes; ${Math.ceil(normal)} are normal`,
      help('requests refused', `--partner ${partnerId}`),
    );
  for (const { partner, partnerId, balance } of lowWallets)
    add(
      `The live wallet of ${partner} has ${dollars(balance)} left`,
      help('wallets show', `${partnerId} --mode live`),
    );
  for (const { partner, partnerId, bucket } of cappedWallets.filter(isLive))
    add(
      `${partner} has reached its live cap of this ${bucket}`,
      help('limits show', `${partnerId} --mode live`),
    );
  return tasks;
}

/** Returns the tables of one mode that have rows. Without a mode, returns those of requests that name no known client. */
function tablesOf(mode: Mode | undefined, overview: Overview, help: Help): Table[] {
  const inMode = <T extends { mode?: Mode }>(rows: readonly T[]) => rows.filter((row) => row.mode === mode);
  const tables: Table[] = [
    {
      title: `Errors of requests, last ${recentMinutes} minutes${sampledText(overview)}`,
      headings: ['Count', 'Status', 'Error', 'Route', 'Partner', 'The last one'],
      rows: inMode(overview.recentErrors).map(
        ({ count, status, error, route, requestId, partner, partnerId }) => [
          ...texts(count, status, error, route),
          partner && partnerId ? partnerCell({ partner, partnerId }) : { text: '' },
          help('request', requestId),
        ],
      ),
    },
    {
      title: 'Failing endpoints, last 24 hours',
      headings: ['Partner', 'Failed', 'Last error', 'Which'],
      rows: inMode(overview.failingEndpoints).map(({ keyId, failed, lastError, ...owner }) => [
        partnerCell(owner),
        { text: failed, to: `/ops/endpoint/${keyId}` },
        ...texts(lastError || 'unknown'),
        help('deliveries list', `--key ${keyId} --status failed`),
      ]),
    },
    {
      title: 'Warnings to partners',
      headings: ['Partner', 'Warning', 'Since (UTC)', 'More'],
      rows: inMode(overview.warnings).map(({ text, since, ...owner }) => [
        partnerCell(owner),
        ...texts(text, timeOf(since)),
        help('warnings list', `--partner ${owner.partnerId}`),
      ]),
    },
    {
      title: 'Wallets near empty',
      headings: ['Partner', 'Balance', 'Days left', 'More'],
      rows: inMode(overview.lowWallets).map(({ balance, daysLeft, ...owner }) => [
        partnerCell(owner),
        { text: dollars(balance), to: `/ops/wallet/${owner.partnerId}:${owner.mode}` },
        ...texts(daysLeft),
        help('wallets show', `${owner.partnerId} --mode ${owner.mode}`),
      ]),
    },
    {
      title: 'At their spend cap now',
      headings: ['Partner', 'Bucket', 'Cap', 'More'],
      rows: inMode(overview.cappedWallets).map(({ bucket, limit, ...owner }) => [
        partnerCell(owner),
        ...texts(bucket, limit),
        help('limits show', `${owner.partnerId} --mode ${owner.mode}`),
      ]),
    },
    {
      title: 'Next webhook attempts',
      headings: ['At (UTC)', 'Partner', 'Event', 'Attempt', 'Last error', 'More'],
      rows: inMode(overview.nextAttempts).map(({ at, event, attempt, deliveryId, lastError, ...owner }) => [
        ...texts(timeOf(at)),
        partnerCell(owner),
        { text: event, to: `/ops/delivery/${deliveryId}` },
        ...texts(attempt, lastError),
        help('deliveries show', deliveryId),
      ]),
    },
  ];
  return tables.filter(({ rows }) => rows.length > 0);
}

/** Returns the figures of the whole service in groups. A figure that is `bad` needs the attention of an operator. */
function groupsOf({ at, deliveries, jobs, pages, audit }: Overview) {
  const { pending = 0, in_flight: inFlight = 0, failed = 0 } = deliveries.byStatus;
  const late = deliveries.late > 0;
  return [
    {
      title: 'Webhook deliveries',
      figures: [
        { name: 'pending', value: pending },
        { name: 'in flight', value: inFlight },
        { name: 'late', value: deliveries.late, bad: late },
        { name: 'longest due', value: ageText(at, deliveries.oldestDueAt), bad: late },
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
        { name: 'age of the oldest', value: ageText(at, pages.oldestAt) },
        { name: 'wallets at fault', value: audit.faulty, bad: audit.faulty > 0 },
      ],
    },
  ];
}

/** Returns the texts that tell of an unavailable database and of the age of the figures. */
function describeAway({ reason, since }: DatabaseFault, overview: { at: Date } | undefined) {
  const figures = overview
    ? `What follows is of ${timeOf(overview.at)} UTC.`
    : 'This process has not shown its figures since it started.';
  return { title: `The database is away since ${timeOf(since)} UTC`, reason, figures };
}

/** Returns the HTML of the page of one record. @param page undefined if the record was never read */
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

/** Returns the HTML of `/ops`, which has no scripts and no actions. @param overview undefined if it was never read */
export function renderOpsPage(
  overview: Overview | undefined,
  { reloading = true, guides, away, clockTrusted = true }: Options = {},
): string {
  const help: Help = (command, rest = '') => ({
    command: `svcadmin ${command}${rest && ` ${rest}`}`,
    href: guides && `${guides}/cli#${commands[command]}`,
  });
  const tasks = overview ? openTasks(overview, help) : [];
  if (!clockTrusted) tasks.unshift(clockTask(help));
  // The text of a section without tables. The last section has no such text: without tables, it is not shown.
  const empty = 'Nothing to show';
  return eta.render('./ops', {
    style,
    at: overview && timeOf(overview.at),
    away: away && describeAway(away, overview),
    reloading,
    reloadSeconds: opsRefreshSeconds,
    tasks,
    groups: overview ? groupsOf(overview) : [],
    sections: overview
      ? [
          { title: 'Live', live: true, tables: tablesOf('live', overview, help), empty },
          { title: 'Test', tables: tablesOf('test', overview, help), empty },
          { title: 'Service', tables: [processTable(overview)] },
          { title: 'Of no known client', tables: tablesOf(undefined, overview, help) },
        ]
      : [],
  });
}
