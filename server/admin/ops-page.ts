import { createHash } from 'node:crypto';
import type { Overview } from './overview-store.ts';

const style = `
  :root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
  body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
  dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 1rem; }
  dt { font-size: .85rem; opacity: .75; } dd { margin: 0; font-size: 1.5rem; font-variant-numeric: tabular-nums; }
  .bad { color: #c0262d; font-weight: 600; } @media (prefers-color-scheme: dark) { .bad { color: #ff8a80; } }
  table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .3rem .8rem .3rem 0; overflow-wrap: anywhere; }
  th { border-bottom: 1px solid currentColor; font-size: .85rem; }
`;

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

interface Figure {
  name: string;
  value: string | number;
  bad: boolean;
}

function figures(list: readonly Figure[]): string {
  const items = list.map(
    ({ name, value, bad }) =>
      `<div><dt>${inert(name)}</dt><dd${bad ? ' class="bad"' : ''}>${inert(value)}</dd></div>`,
  );
  return `<dl>${items.join('')}</dl>`;
}

function table(
  title: string,
  headings: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  if (rows.length === 0) return `<h2>${inert(title)}</h2><p>None.</p>`;
  const cells = (tag: string, row: readonly (string | number)[]) =>
    row.map((cell) => `<${tag}>${inert(cell)}</${tag}>`).join('');
  const lines = rows.map((row) => `<tr>${cells('td', row)}</tr>`);
  return `<h2>${inert(title)}</h2><table><thead><tr>${cells('th', headings)}</tr></thead><tbody>${lines.join('')}</tbody></table>`;
}

const dollars = (cents: number): string => `${(cents / 100).toFixed(2)} USD`;
const seconds = (at: Date, since: Date | undefined): string =>
  since ? `${Math.max(0, Math.round((at.getTime() - since.getTime()) / 1000))} s` : '–';

/** The page that ops keep open: no script, and nothing on it changes anything. */
export function renderOpsPage({ at, deliveries, jobs, ...overview }: Overview): string {
  const { failingEndpoints, lowWallets, cappedWallets, oldestHoldAt } = overview;
  const { pending = 0, in_flight: inFlight = 0, failed = 0 } = deliveries.byStatus;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="15"><title>SVC Gateway: operations</title><style>${style}</style></head>
<body><h1>Operations</h1><p>As of ${inert(at.toISOString())}; reloads every 15 s.</p>
${figures([
  { name: 'Deliveries pending', value: pending, bad: false },
  { name: 'in flight', value: inFlight, bad: false },
  { name: 'late', value: deliveries.late, bad: deliveries.late > 0 },
  { name: 'longest due', value: seconds(at, deliveries.oldestDueAt), bad: deliveries.late > 0 },
  { name: 'failed (30 days)', value: failed, bad: false },
  { name: 'Jobs waiting', value: jobs.waiting, bad: false },
  { name: 'late', value: jobs.late, bad: jobs.late > 0 },
  { name: 'failed', value: jobs.failed, bad: jobs.failed > 0 },
  { name: 'Oldest pending charge', value: seconds(at, oldestHoldAt), bad: false },
])}
${table(
  'Failing endpoints, last 24 hours',
  ['API key', 'Partner', 'Failed', 'Last error'],
  failingEndpoints.map(({ keyId, partnerId, failed: count, lastError }) => [
    keyId,
    partnerId,
    count,
    lastError,
  ]),
)}
${table(
  'Live wallets near empty',
  ['Wallet', 'Balance'],
  lowWallets.map(({ walletId, balance }) => [walletId, dollars(balance)]),
)}
${table(
  'At their spend cap now',
  ['Wallet', 'Bucket', 'Cap'],
  cappedWallets.map(({ walletId, bucket, limit }) => [walletId, bucket, limit]),
)}
</body></html>
`;
}
