import { createHash } from 'node:crypto';
import type { Overview } from './overview-store.ts';

const style = `
  :root { color-scheme: light dark; --ground: #f1f4f3; --card: #fff; --ink: #13201b; --soft: #4d5c56; --line: #d8dfdc; --good: #17694f; --bad: #b3261e; --bad-ground: #fdeceb; --link: #17594a; }
  @media (prefers-color-scheme: dark) {
    :root { --ground: #0d1311; --card: #161e1b; --ink: #e8eeeb; --soft: #a8b6b0; --line: #2c3834; --good: #7ed3ba; --bad: #ff9c92; --bad-ground: #3b1a17; --link: #7ed3ba; }
  }
  * { box-sizing: border-box; }
  html { background: var(--ground); color: var(--ink); font: 15px/1.45 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
  body { max-width: 66rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
  header { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; align-items: baseline; justify-content: space-between; margin-bottom: 1rem; }
  h1 { margin: 0; font-size: 1.5rem; } h2 { margin: 0 0 .75rem; font-size: 1rem; } p { margin: 0; color: var(--soft); }
  a { color: var(--link); } :focus-visible { outline: 3px solid #3b82f6; outline-offset: 2px; }
  main { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 18rem), 1fr)); }
  section { padding: 1rem 1.25rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; }
  .wide { grid-column: 1 / -1; overflow-x: auto; }
  dl { display: flex; flex-wrap: wrap; gap: .75rem 1.75rem; margin: 0; }
  dl div { display: flex; flex-direction: column-reverse; }
  dt { color: var(--soft); font-size: .875rem; } dd { margin: 0; font-size: 1.75rem; font-weight: 600; line-height: 1.2; font-variant-numeric: tabular-nums; }
  .state { font-weight: 600; color: var(--good); } .state.bad { padding: 0 .5rem; background: var(--bad-ground); border-radius: .375rem; }
  .bad { color: var(--bad); }
  table { border-collapse: collapse; width: 100%; } th, td { padding: .5rem 1rem .5rem 0; text-align: start; vertical-align: top; overflow-wrap: anywhere; }
  th { color: var(--soft); font-size: .875rem; font-weight: 400; } tr + tr td, thead + tbody td { border-top: 1px solid var(--line); }
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
  /** Whether an operator should act. */
  bad?: boolean;
}

function figures(title: string, list: readonly Figure[]): string {
  const items = list.map(
    ({ name, value, bad = false }) =>
      `<div><dt>${inert(name)}</dt><dd${bad ? ' class="bad"' : ''}>${inert(value)}</dd></div>`,
  );
  return `<section><h2>${inert(title)}</h2><dl>${items.join('')}</dl></section>`;
}

function table(
  title: string,
  headings: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  if (rows.length === 0) return `<section><h2>${inert(title)}</h2><p>None</p></section>`;
  const cells = (tag: string, row: readonly (string | number)[]) =>
    row.map((cell) => `<${tag}>${inert(cell)}</${tag}>`).join('');
  const lines = rows.map((row) => `<tr>${cells('td', row)}</tr>`);
  return `<section class="wide"><h2>${inert(title)}</h2><table><thead><tr>${cells('th', headings)}</tr></thead><tbody>${lines.join('')}</tbody></table></section>`;
}

const dollars = (cents: number): string => `${(cents / 100).toFixed(2)} USD`;
const seconds = (at: Date, since: Date | undefined): string =>
  since ? `${Math.max(0, Math.round((at.getTime() - since.getTime()) / 1000))} s` : '–';

/** Seconds after which the page is asked for again. */
export const opsRefresh = 15;

/**
 * The page that ops keep open: no script, and nothing on it changes anything. `reloading`: whether it is shown
 * again by itself, which the answer's `Refresh` header brings about; who reads at leisure can stop it.
 */
export function renderOpsPage(overview: Overview, { reloading = true } = {}): string {
  const { at, deliveries, jobs, failingEndpoints, lowWallets, cappedWallets, pages } = overview;
  const { pending = 0, in_flight: inFlight = 0, failed = 0 } = deliveries.byStatus;
  const troubles = [deliveries.late > 0, jobs.late > 0, jobs.failed > 0, failingEndpoints.length > 0];
  const inTrouble = troubles.some(Boolean);
  const [time = ''] = at.toISOString().split('.');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${inTrouble ? '(!) ' : ''}Operations · SVC Gateway</title><style>${style}</style></head>
<body><header><h1>Operations</h1>
<p><span class="state${inTrouble ? ' bad' : ''}">${inTrouble ? 'Needs attention' : 'All is well'}</span> · ${inert(time.replace('T', ' '))} UTC · ${
    reloading
      ? `reloads every ${opsRefresh} s · <a href="?still">Stop reloading</a>`
      : '<a href="?">Reload by itself</a>'
  }</p></header><main>
${figures('Webhook deliveries', [
  { name: 'pending', value: pending },
  { name: 'in flight', value: inFlight },
  { name: 'late', value: deliveries.late, bad: deliveries.late > 0 },
  { name: 'longest due', value: seconds(at, deliveries.oldestDueAt), bad: deliveries.late > 0 },
  { name: 'failed, 30 days', value: failed },
])}
${figures('Jobs', [
  { name: 'waiting', value: jobs.waiting },
  { name: 'late', value: jobs.late, bad: jobs.late > 0 },
  { name: 'failed', value: jobs.failed, bad: jobs.failed > 0 },
])}
${figures('Ledger', [{ name: 'oldest page with events to publish', value: seconds(at, pages.oldestAt) }])}
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
</main></body></html>
`;
}
