import { decimal } from '../amounts.ts';
import { renderCsv } from '../csv.ts';
import type { StatementView } from './wallets.ts';

/** The columns of the file, in order. */
const headings = [
  'seq',
  'at',
  'id',
  'kind',
  'amount',
  'balance_after',
  'currency',
  'reference',
  'reason',
  'session',
  'client',
  'enrollment',
] as const;
type Rendered = Pick<StatementView, 'entries' | 'opening' | 'closing' | 'currency'>;
type Row = Partial<Record<(typeof headings)[number], string | number | null>>;

/**
 * Renders a statement as CSV. The first row has the opening balance, and the last row has the closing balance. Amounts are decimal
 * numbers, and times are in UTC.
 */
export function renderStatement(statement: Rendered): string[] {
  const { entries, opening, closing, currency } = statement;
  const entryRows = entries.map(
    ({ amount, balanceAfter, sessionId, clientId, enrollmentId, ...fields }): Row => ({
      ...fields,
      amount: decimal(amount),
      balance_after: decimal(balanceAfter),
      session: sessionId,
      client: clientId,
      enrollment: enrollmentId,
    }),
  );
  const rows: Row[] = [
    { kind: 'opening', balance_after: decimal(opening), currency },
    ...entryRows,
    { kind: 'closing', balance_after: decimal(closing), currency },
  ];
  const cells = rows.map((row) => headings.map((heading) => row[heading] ?? null));
  return renderCsv(headings, cells);
}
