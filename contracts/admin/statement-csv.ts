import { decimal } from '../amounts.ts';
import { renderRows } from '../csv.ts';
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

const render = (rows: readonly Row[]): string[] =>
  renderRows(rows.map((row) => headings.map((heading) => row[heading] ?? null)));

/** Renders the headings, and the row with the opening balance. */
export const renderOpening = ({ opening, currency }: Pick<Rendered, 'opening' | 'currency'>): string[] => [
  ...renderRows([headings]),
  ...render([{ kind: 'opening', balance_after: decimal(opening), currency }]),
];

/** Renders the row with the closing balance. */
export const renderClosing = ({ closing, currency }: Pick<Rendered, 'closing' | 'currency'>): string[] =>
  render([{ kind: 'closing', balance_after: decimal(closing), currency }]);

export const renderEntries = (entries: Rendered['entries']): string[] =>
  render(
    entries.map(
      ({ amount, balanceAfter, sessionId, clientId, enrollmentId, ...fields }): Row => ({
        ...fields,
        amount: decimal(amount),
        balance_after: decimal(balanceAfter),
        session: sessionId,
        client: clientId,
        enrollment: enrollmentId,
      }),
    ),
  );

/**
 * Renders a statement as CSV. The first row has the opening balance, and the last row has the closing balance. Amounts are decimal
 * numbers, and times are in UTC.
 */
export const renderStatement = (statement: Rendered): string[] => [
  ...renderOpening(statement),
  ...renderEntries(statement.entries),
  ...renderClosing(statement),
];
