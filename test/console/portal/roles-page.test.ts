import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { scope } from '../../../server/console/portal/calls/scope.ts';
import { roles } from './scope-table.ts';

const page = readFileSync(new URL('../../../docs/portal.md', import.meta.url), 'utf8');

/** Procedures that every member may call, and that the table of the page does not have. */
const ofEveryone = /^(?:partners\.show|members\.(?:wishes|setWishes))$/;
const isReading =
  /\.(?:list|count|show|health|verify|refused|statement|usage|signedStatement|entry|settings|acts)$/;

/** The procedures of each row of the table. */
const rows: Record<string, RegExp> = {
  'clients, API keys, integrations, logo':
    /^(?:clients|keys|integrations)\.|^partners\.(?:setLogo|removeLogo)$/,
  'webhooks and their health': /^webhooks\./,
  'events and deliveries': /^(?:events|deliveries|bulk)\./,
  'requests, sessions, users': /^(?:requests|sessions|enrollments)\./,
  'balance, price, statement, usage': /^(?:wallets\.(?!refill)|prices\.)/,
  'spend caps': /^limits\./,
  'play money': /^wallets\.refill$/,
  'warnings, and who gets them': /^warnings\./,
  members: /^members\.(?!acts|wishes|setWishes)/,
  'audit log': /^members\.acts$/,
};

const paths = Object.keys(scope);

/** What a role may do with the procedures of a row. */
function cellOf(row: string, role: (typeof roles)[number]): string {
  const all = paths.filter((path) => rows[row]?.test(path));
  const allowed = all.filter((path) => scope[path]?.roles.includes(role));
  if (allowed.length === 0) return 'no';
  if (allowed.some((path) => path === 'wallets.refill')) return 'refill';
  return allowed.length === all.length && !all.every((path) => isReading.test(path)) ? 'change' : 'read';
}

it('the table of roles in docs/portal.md says what the server allows', () => {
  const section = /^## Roles\n([\s\S]*?)^## /m.exec(page)?.[1] ?? '';
  const table = section.split('\n').filter((line) => line.startsWith('|'));
  expect(table).toEqual([
    `| | ${roles.join(' | ')} |`,
    '|---|---|---|---|---|',
    ...Object.keys(rows).map((row) => `| ${row} | ${roles.map((role) => cellOf(row, role)).join(' | ')} |`),
  ]);
});

it('the table of roles in docs/portal.md has a row for each procedure that not all members may call', () => {
  const rowsOf = (path: string) => Object.values(rows).filter((row) => row.test(path)).length;
  const wrong = paths.filter((path) => rowsOf(path) !== (ofEveryone.test(path) ? 0 : 1));
  expect(wrong).toEqual([]);
});
