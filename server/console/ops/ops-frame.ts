import { createHash } from 'node:crypto';
import type { DatabaseFault } from '../../platform/database/availability.ts';
import { securityPolicy } from '../../platform/http/browser/pages.ts';
import type { ShownError } from '../portal/error-words.ts';
import { languages } from '../portal/messages/languages.ts';
import { style } from '../portal/responses.ts';
import { renderTemplate } from '../portal/templates.ts';
import type { Cell, Section, View } from '../portal/views/kit/page.ts';
import { text } from '../portal/views/kit/text.ts';
import { type RecordPage, type Table, type Task, timeOf } from './ops-cells.ts';

/** The style of the portal, inside the page: the admin listener has no files. */
const inlineStyle = style.content.toString();

/** The Content-Security-Policy of the page: it allows the style of the page and nothing else. */
export const opsPagePolicy = securityPolicy(
  `style-src 'sha256-${createHash('sha256').update(style.content).digest('base64')}'`,
);

export const sectionOf = ({ title, ...table }: Table): Section => ({ title, table });
export const commandSection = (title: string, tasks: readonly Task[]): Section => ({
  title,
  table: { headings: ['What', 'Command'], rows: tasks.map(([what, command]) => [text(what), command]) },
});
export const command = (line: string): Cell => ({ text: line, isCommand: true });

interface Shown extends View {
  /** The path of the page below `/ops`. */
  path: string;
  /** Whether the title says that something needs attention. */
  isUrgent?: boolean;
  away: DatabaseFault | undefined;
  /** The time of the figures; undefined if they were never read. */
  at: Date | undefined;
}

export function render({ title, path, sections, isUrgent = false, away, at }: Shown): string {
  const figures = at
    ? `What follows is of ${timeOf(at)} UTC.`
    : 'This process has not shown its figures since it started.';
  const error: ShownError | undefined = away && {
    text: `The database is away since ${timeOf(away.since)} UTC`,
    detail: { text: `${away.reason}. ${figures}`, isEnglish: true },
  };
  const links = { '': 'Operations', '/work/all': 'Endpoints and bulk work', '/schedule/all': 'Schedule' };
  return renderTemplate('page', {
    m: { ...languages.en, portal: 'SVC Gateway' },
    language: 'en',
    root: '/ops',
    inlineStyle,
    title,
    isUrgent: isUrgent || away !== undefined,
    keep: (to: string) => to,
    nav: [
      {
        entries: Object.entries(links).map(([to, text]) => ({
          href: `/ops${to}`,
          text,
          current: to === path,
        })),
      },
    ],
    error,
    sections: away
      ? [
          commandSection('Database away', [
            ['What the service says', command('svcadmin status')],
            ['What is wrong', command('svcadmin doctor')],
          ]),
          ...sections,
        ]
      : sections,
  });
}

/** Returns the HTML of the page of one record. @param page undefined if the record was never read */
export function renderRecordPage(
  path: string,
  page: { value: RecordPage; at: Date } | undefined,
  away: DatabaseFault | undefined,
): string {
  const { value, at } = page ?? {};
  const sections = value
    ? [
        { title: 'Now', facts: value.facts, note: at && `${timeOf(at)} UTC` },
        ...value.tables.map(sectionOf),
        commandSection(
          'What can be done',
          value.actions.map(([what, line]) => [what, command(line)]),
        ),
      ]
    : [];
  return render({ title: value?.title ?? 'Not read yet', path, sections, away, at });
}
