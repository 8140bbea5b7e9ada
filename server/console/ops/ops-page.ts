import { dollars } from '../../../contracts/amounts.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import {
  type Overview as Figures,
  type Owner,
  recentMinutes,
} from '../../operations/overview/overview-store.ts';
import type { DatabaseFault } from '../../platform/database/availability.ts';
import type { ProcessSurvey } from '../../platform/jobs/processes.ts';
import type { Cell, Section } from '../portal/views/kit/page.ts';
import { text, time, toned } from '../portal/views/kit/text.ts';
import { type HelpWith, link, type Table, type Task, texts, timeOf } from './ops-cells.ts';
import { command, commandSection, render, sectionOf } from './ops-frame.ts';
import { clockTask, processTable, processTasks } from './ops-processes.ts';

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
  const tasks: Task[] = processTasks(overview, help);
  const add = (...task: Task) => tasks.push(task);
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
      reason === 'surge'
        ? `${about}${count} requests of ${partner} were refused in ${recentMinutes} minutes; ${Math.ceil(normal)} are normal`
        : `${partner} is ${reason}, and sent ${about}${count} requests in ${recentMinutes} minutes`,
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
          partner && partnerId ? partnerCell({ partner, partnerId }) : text(null),
          help('request', requestId),
        ],
      ),
    },
    {
      title: 'Failing endpoints, last 24 hours',
      headings: ['Partner', 'Failed', 'Last error', 'Which'],
      rows: inMode(overview.failingEndpoints).map(({ keyId, failed, lastError, ...owner }) => [
        partnerCell(owner),
        { text: String(failed), to: `/endpoint/${keyId}` },
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
        { text: dollars(balance), to: `/wallet/${owner.partnerId}:${owner.mode}` },
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
        time(at.toISOString()),
        partnerCell(owner),
        { text: event, to: `/delivery/${deliveryId}` },
        ...texts(attempt, lastError),
        help('deliveries show', deliveryId),
      ]),
    },
  ];
  return tables.filter(({ rows }) => rows.length > 0);
}

/** Returns the figures of the whole service. A red figure needs the attention of an operator. */
function figuresOf({ at, deliveries, jobs, pages, audit }: Overview): Section {
  const { pending = 0, in_flight: inFlight = 0, failed = 0 } = deliveries.byStatus;
  const warned = (value: number | string, isBad: boolean) => toned(String(value), isBad ? 'bad' : undefined);
  const late = deliveries.late > 0;
  return {
    title: 'Webhook deliveries, jobs and ledger',
    facts: [
      ['Deliveries pending', text(pending)],
      ['Deliveries in flight', text(inFlight)],
      ['Deliveries late', warned(deliveries.late, late)],
      ['Longest due', warned(ageText(at, deliveries.oldestDueAt), late)],
      ['Deliveries failed, 30 days', text(failed)],
      ['Jobs waiting', text(jobs.waiting)],
      ['Jobs late', warned(jobs.late, jobs.late > 0)],
      ['Jobs failed', warned(jobs.failed, jobs.failed > 0)],
      ['Unpublished pages', text(pages.unpublished)],
      ['Age of the oldest page', text(ageText(at, pages.oldestAt))],
      ['Wallets at fault', warned(audit.faulty, audit.faulty > 0)],
    ],
  };
}

/** Makes the section of tables under one name. @param empty the text if there are no tables; without it, there is no section */
const namedSections = (name: string, tables: readonly Table[], empty?: string): Section[] =>
  tables.length === 0 && empty !== undefined
    ? [{ title: name, note: empty }]
    : tables.map((table) => sectionOf({ ...table, title: `${name}: ${table.title}` }));

/** Returns the HTML of `/ops`, which has no scripts and no actions. @param overview undefined if it was never read */
export function renderOpsPage(
  overview: Overview | undefined,
  { reloading = true, guides, away, clockTrusted = true }: Options = {},
): string {
  const help: Help = (name, rest = '') => ({
    ...command(`svcadmin ${name}${rest && ` ${rest}`}`),
    href: guides && `${guides}/cli#${commands[name]}`,
  });
  const tasks = overview ? openTasks(overview, help) : [];
  if (!clockTrusted) tasks.unshift(clockTask(help));
  const isUrgent = tasks.length > 0 || away !== undefined;
  const state: Section = {
    title: 'Now',
    facts: [
      [
        'State',
        isUrgent ? toned(away ? 'Database away' : 'Needs attention', 'bad') : toned('All is well', 'good'),
      ],
      ['Read at', text(overview && `${timeOf(overview.at)} UTC`)],
      [
        'Reloading',
        reloading
          ? { text: 'Stop reloading', href: '?still', note: `every ${opsRefreshSeconds} s` }
          : { text: 'Reload by itself', href: '?' },
      ],
    ],
  };
  return render({
    title: 'Operations',
    path: '',
    away,
    at: overview?.at,
    isUrgent,
    sections: [
      state,
      ...(tasks.length > 0 ? [commandSection('Open problems', tasks)] : []),
      ...(overview
        ? [
            figuresOf(overview),
            ...namedSections('Live', tablesOf('live', overview, help), 'Nothing to show'),
            ...namedSections('Test', tablesOf('test', overview, help), 'Nothing to show'),
            sectionOf(processTable(overview)),
            ...namedSections('Of no known client', tablesOf(undefined, overview, help)),
          ]
        : []),
    ],
  });
}
