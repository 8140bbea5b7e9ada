// Runs the import rules and the rules of the layout, and fails if the tool read fewer modules than git tracks: a checker that
// silently reads nothing would otherwise pass for ever.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cruise } from 'dependency-cruiser';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import layout from './floors.json' with { type: 'json' };
import { collectionFaults, drawFloors, folderFaults, importFaults, titleFaults, wiringFaults } from './layout.mjs';

const { forbidden, options } = createRequire(import.meta.url)('./dependency-cruiser.cjs');
const roots = ['server', 'cli', 'contracts', 'embedded-database', 'sdk/typescript/src', 'test', 'bench'];
const allFiles = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--', ...roots], { encoding: 'utf8' }).split('\n');
const tracked = allFiles.filter((path) => path.endsWith('.ts'));

const { output } = await cruise(
  roots,
  { ...options, ruleSet: { forbidden }, validate: true, outputType: 'json' },
  undefined,
  { tsConfig: extractTSConfig('tsconfig.json') },
);
const { modules, summary } = JSON.parse(output);
const own = modules.filter(({ source }) => roots.some((root) => source.startsWith(`${root}/`))).length;

for (const { rule, from, to } of summary.violations) console.error(`${rule.name}: ${from} -> ${to}`);
if (own < tracked.length) console.error(`read ${own} modules, but git tracks ${tracked.length}`);
const filesOf = (root) =>
  tracked
    .filter((path) => path.startsWith(root) && existsSync(path))
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }));
const sources = filesOf('server/');
const faults = [
  ...importFaults(modules, layout),
  ...folderFaults(allFiles),
  ...collectionFaults(sources),
  ...wiringFaults(sources),
  ...titleFaults(filesOf('test/')),
];

// docs/architecture.md shows the floors as this program has read them. `--write` writes them there.
const page = 'docs/architecture.md';
const text = readFileSync(page, 'utf8');
const drawn = text.replace(/<!-- floors -->[^]*<!-- \/floors -->/, () => `<!-- floors -->\n${drawFloors(modules, layout)}\n<!-- /floors -->`);
if (process.argv.includes('--write')) writeFileSync(page, drawn);
else if (drawn !== text) faults.push(`${page} shows other floors: run node .config/check-imports.mjs --write`);

for (const fault of faults) console.error(fault);
if (summary.violations.length > 0 || faults.length > 0 || own < tracked.length) process.exit(1);
console.log(`import rules hold in ${own} modules`);
