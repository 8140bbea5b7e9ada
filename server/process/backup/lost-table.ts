import { decimal } from '../../../contracts/amounts.ts';
import type { Lost } from './comparison.ts';

const headings = ['AT', 'WHAT', 'TARGET', 'BY', 'DETAILS'] as const;

/** The fields of a record in one line, such as `status=suspended`. Amounts of entries are in dollars. */
function describe({ kind, after }: Lost): string {
  return Object.entries(after ?? {})
    .map(([name, value]) => {
      const isAmount = kind === 'entry' && typeof value === 'number';
      return `${name}=${isAmount ? decimal(value) : JSON.stringify(value)}`;
    })
    .join(' ');
}

function renderRows(rows: readonly Lost[]): string[] {
  const cells = [
    headings,
    ...rows.map((row) => [row.at, row.what, row.target ?? '-', row.by ?? '-', describe(row)]),
  ];
  const widths = headings.map((_heading, column) =>
    Math.max(...cells.map((line) => (line[column] ?? '').length)),
  );
  return cells.map((line) =>
    `  ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
  );
}

/** Renders the comparison with an old database as a table for each partner. @param lost in the order of partners */
export function renderLost(lost: readonly Lost[]): string[] {
  if (lost.length === 0)
    return ['Nothing is missing: the restored database has each change and each ledger entry.'];
  const partners = [...new Set(lost.map(({ partnerId }) => partnerId))];
  const changes = lost.filter(({ kind }) => kind === 'change').length;
  return [
    `${changes} changes and ${lost.length - changes} ledger entries are missing. Times are UTC.`,
    ...partners.flatMap((partner) => {
      const rows = lost.filter(({ partnerId }) => partnerId === partner);
      const name = rows[0]?.partnerName;
      const title = partner === null ? 'Of no partner' : `${partner}${name ? ` ${name}` : ''}`;
      return ['', title, ...renderRows(rows)];
    }),
  ];
}
