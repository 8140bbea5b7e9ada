import { decimal, renderCsv } from '../csv.ts';
import type { StatementView } from './wallets.ts';

const headings = [
  ...['seq', 'at', 'id', 'kind', 'amount', 'balance_after', 'currency'],
  ...['reference', 'reason', 'session', 'client', 'enrollment'],
];

/** Renders a statement as CSV, from the opening to the closing balance. Amounts are decimal numbers, times are in UTC. */
export function renderStatement({
  entries,
  opening,
  closing,
  currency,
}: Pick<StatementView, 'entries' | 'opening' | 'closing' | 'currency'>): string[] {
  const edge = (kind: string, cents: number) => [
    ...[null, null, null, kind, null, decimal(cents), currency],
    ...Array<null>(5).fill(null),
  ];
  const rows = entries.map(({ seq, at, id, kind, amount, balanceAfter, ...entry }) => [
    ...[seq, at, id, kind, decimal(amount), decimal(balanceAfter), currency],
    ...[entry.reference, entry.reason, entry.sessionId, entry.clientId, entry.enrollmentId],
  ]);
  return renderCsv(headings, [edge('opening', opening), ...rows, edge('closing', closing)]);
}
