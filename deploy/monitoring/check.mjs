// Checks the dashboard and the alert rules against each other, the metrics that exist and the documentation.
//   node check.mjs
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const read = (path) => readFileSync(new URL(path, import.meta.url), 'utf8');
const dashboard = JSON.parse(read('dashboard.json'));
const rules = read('alerts.yaml');
const tests = read('alerts.test.yaml');
const operations = read('../../docs/operations.md');
const faults = [];

/** Metrics of docs/operations.md, which a test compares with /metrics; those of Node.js come from prom-client. */
const metrics = new Set([...operations.matchAll(/^\| `(svc_\w+)/gm)].map(([, name]) => name));
const others = new Set(['up', 'nodejs_eventloop_lag_p99_seconds', 'process_resident_memory_bytes', 'process_cpu_seconds_total']);
const parts = /_(bucket|sum|count)$/;

function checkMetrics(where, query) {
  const named = query.match(/\b(svc|nodejs|process)_[a-z0-9_]+\b|\bup\b/g) ?? [];
  if (named.length === 0) faults.push(`${where}: names no metric`);
  for (const name of named) {
    const exists = metrics.has(name) || others.has(name) || (parts.test(name) && metrics.has(name.replace(parts, '')));
    if (!exists) faults.push(`${where}: no metric ${name}`);
  }
}

/** Grafana's dashboard model: what it needs to show a panel. */
function checkDashboard({ uid, title, schemaVersion, templating, panels }) {
  if (!uid || !title || !Number.isInteger(schemaVersion)) faults.push('dashboard: no uid, title or schemaVersion');
  const variables = new Set(templating.list.map(({ name }) => name));
  const ids = new Set();
  const taken = new Set();
  for (const { id, type, title: name, gridPos, targets = [], datasource } of panels) {
    const where = `dashboard, panel ${id} "${name}"`;
    if (!Number.isInteger(id) || ids.has(id)) faults.push(`${where}: its id is no number of its own`);
    ids.add(id);
    const { h, w, x, y } = gridPos;
    if (![h, w, x, y].every(Number.isInteger) || x + w > 24) faults.push(`${where}: does not fit the grid of 24 columns`);
    for (let row = y; row < y + h; row += 1)
      for (let column = x; column < x + w; column += 1) {
        if (taken.has(`${row}/${column}`)) faults.push(`${where}: lies on another panel`);
        taken.add(`${row}/${column}`);
      }
    if (type === 'row') continue;
    if (!['timeseries', 'stat'].includes(type)) faults.push(`${where}: unknown type ${type}`);
    if (datasource?.uid !== `\${datasource}`) faults.push(`${where}: not of the chosen data source`);
    if (targets.length === 0) faults.push(`${where}: no query`);
    if (new Set(targets.map(({ refId }) => refId)).size < targets.length) faults.push(`${where}: two queries with one refId`);
    for (const { expr } of targets) {
      checkMetrics(where, expr);
      for (const [, variable] of expr.matchAll(/\$(\w+)/g))
        if (!variables.has(variable) && !variable.startsWith('__')) faults.push(`${where}: no variable $${variable}`);
    }
  }
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}

/** Prometheus parses every query of the dashboard, as the expression of a rule. */
function checkSyntax(queries) {
  const directory = mkdtempSync(join(tmpdir(), 'svc-monitoring-'));
  const file = join(directory, 'queries.json');
  const filled = queries.map((query) => query.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'));
  writeFileSync(
    file,
    JSON.stringify({ groups: [{ name: 'dashboard', rules: filled.map((expr, n) => ({ record: `query:${n}`, expr })) }] }),
  );
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', '--lint=none', file], { encoding: 'utf8' });
  rmSync(directory, { recursive: true });
  if (status !== 0) faults.push(`dashboard: ${stdout}${stderr}`);
}

const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
for (const name of alerts) {
  for (const [what, ending] of [['where it fires', 'fires'], ['where it does not', 'does not fire']])
    if (!tests.includes(`- name: ${name} ${ending}\n`)) faults.push(`${name}: no test ${what}`);
  if (!operations.includes(`\n#### ${name}\n`)) faults.push(`${name}: docs/operations.md does not say what to do`);
  if (!rules.includes(`runbook_url: "{{ $externalLabels.svc_docs }}/operations#${name.toLowerCase()}"\n`)) faults.push(`${name}: no runbook`);
}
for (const [, name] of operations.matchAll(/^#### (Svc\w+)$/gm))
  if (!alerts.includes(name)) faults.push(`docs/operations.md: no alert ${name}`);
for (const [, query] of rules.matchAll(/expr: (?:\|\n)?([\s\S]*?)\n +for:/g)) checkMetrics('alerts', query);

const queries = checkDashboard(dashboard);
checkSyntax(queries);
for (const fault of faults) console.error(fault);
console.log(`checked ${alerts.length} alerts and ${queries.length} queries of the dashboard: ${faults.length} faults`);
if (faults.length > 0) process.exitCode = 1;
