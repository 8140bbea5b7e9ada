/**
 * Which tier a test belongs to. `npm test` runs the quick tier; `npm run test:all` runs the slow one too.
 *
 * The tier follows from the measured time: `npm run update:tiers` writes test/slow-tests.json. Files that need a browser,
 * another language or many processes are not measured. They are slow by their name, `*.slow.test.ts`, or by this list.
 * `npm run nightly` runs those named `*.nightly.test.ts`.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export type Tier = 'quick' | 'slow' | 'nightly';

/**
 * The longest time of a quick test in milliseconds, while one test runs at a time. It is about 150 ms in `npm test`, which runs
 * three on two processors.
 */
export const longestQuickMs = 80;

const slow = [
  'test/**/*.slow.test.ts',
  // Chromium.
  'test/browser/**/*.test.ts',
  // Processes that are killed, and messages that are lost.
  'test/proofs/faults/**/*.test.ts',
  'test/billing/crash.test.ts',
  'test/embedded-database/embedded.test.ts',
  // The journey, by its program.
  'test/platform/database/shards.test.ts',
  // Starts of the built server.
  'test/platform/{first-use,health-listener,logs,reseal,restore,roll-out,start-fault,stop}.test.ts',
  // A process for each test, and a receiver that is too slow for 10 s.
  'test/cli/svc/listen.test.ts',
  // A terminal and a shell.
  'test/cli/program/{completion,terminal}.test.ts',
];

/**
 * Slow files that measure the time of the processor or of the event loop, or count the commands that simultaneous flows share, so
 * nothing runs beside them.
 */
const measured = [
  'test/pages/flow/commands.test.ts',
  'test/platform/longest-input.test.ts',
  'test/platform/event-loop/largest-inputs.slow.test.ts',
  'test/people/passkeys/return-time.slow.test.ts',
];

/**
 * Files that need a process of their own: they replace the time zone, `Intl` or timers for longer than a test, or load the
 * source of the product a second time, whose schemas then replace the first ones.
 */
const isolated = [
  'test/cli/output/output.test.ts',
  'test/platform/clock.test.ts',
  'test/proofs/delivery-simulation/guards.slow.test.ts',
  'test/proofs/delivery-simulation/simulation.test.ts',
  'test/proofs/simulation/simulation.test.ts',
  'test/pages/views/formatters.test.ts',
  'test/process/idle.test.ts',
];

/** Quick files that try a part of their cases; the slow tier runs them again, and tries all. */
const thorough = [
  'test/billing/exchange.test.ts',
  'test/pages/flow/interleavings.test.ts',
  'test/webhooks/operators/schedule.test.ts',
];

const rootUrl = new URL('../', import.meta.url);

/** The paths of the modules that a file of the repository imports by a relative path. */
const importsOf = (file: string): string[] =>
  [...readFileSync(new URL(file, rootUrl), 'utf8').matchAll(/ from '(\.[^']+)'/g)].map(([, path = '']) =>
    join(dirname(file), path),
  );

/**
 * Whether a file may load the built command line into its process: it is one of `test/cli`, or imports one. The copies of the
 * schemas in the built code replace those of the source, which other files compare. So these files run after the others.
 */
const isBuiltCode = (file: string): boolean =>
  [file, ...importsOf(file)].some((path) => path.startsWith('test/cli/'));

/** By file: `true` if all its tests are slow, else the titles of those that are. With SVC_TEST_TIERS=off, all are quick. */
export type SlowTests = Record<string, true | string[]>;

export const slowTestsPath = new URL('../test/slow-tests.json', import.meta.url);
/**
 * By file, the titles of tests that are quick however long they take, because no quicker test finds one of the faults of
 * `npm run mutants`.
 */
export const guardTestsPath = new URL('../test/guard-tests.json', import.meta.url);
const isOff = process.env['SVC_TEST_TIERS'] === 'off';
const slowTests: SlowTests = isOff ? {} : JSON.parse(readFileSync(slowTestsPath, 'utf8'));

const escaped = (title: string): string => title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The pattern of the titles in `file` that belong to `tier`, and match what `-t` gives; undefined for all. */
export function titlesToRun(
  file: string,
  tier: Tier,
  given: RegExp | undefined,
  { [file]: titles } = slowTests,
): RegExp | undefined {
  if (!Array.isArray(titles) || (tier === 'slow' && thorough.includes(file))) return given;
  const isSlow = `\\s*(?:${titles.map(escaped).join('|')})$`;
  const isOfTier = tier === 'slow' ? `(?=${isSlow})` : `(?!${isSlow})`;
  return new RegExp(`^${isOfTier}${given ? `(?=.*(?:${given.source}))` : ''}`, 's');
}

const withSlowTests = Object.keys(slowTests);
const entirelySlow = withSlowTests.filter((file) => slowTests[file] === true);

interface Project {
  name: string;
  tier: Tier;
  include: string[];
  exclude: string[];
  /** Whether each file gets a process of its own. */
  isolate?: boolean;
  maxWorkers?: number;
  sequence?: { groupOrder: number };
}

// Packages that recipes use have tests of their own.
const never = ['**/node_modules/**'];
const nightly = ['test/**/*.nightly.test.ts'];
const notQuick = [...never, ...nightly, ...slow, ...measured, ...entirelySlow];
const notShared = [...never, ...nightly, ...measured, ...isolated];

/** The projects of vitest, which run in the order of their names. Each starts processes of its own. */
export const projects: Project[] = [
  {
    name: 'quick',
    tier: 'quick',
    include: ['test/**/*.test.ts'],
    exclude: [...notQuick, ...isolated],
  },
  { name: 'quick-isolated', tier: 'quick', include: isolated, exclude: notQuick, isolate: true },
  { name: 'slow', tier: 'slow', include: [...slow, ...thorough, ...withSlowTests], exclude: notShared },
  {
    ...{ name: 'slow-isolated', tier: 'slow', exclude: never, isolate: true },
    include: isolated.filter((file) => file in slowTests || file.endsWith('.slow.test.ts')),
  },
  {
    ...{ name: 'slow-measured', tier: 'slow', include: measured, exclude: never, isolate: true },
    ...{ maxWorkers: 1, sequence: { groupOrder: 1 } },
  },
  { name: 'nightly', tier: 'nightly', include: nightly, exclude: never, isolate: true },
];

/** The part of its project in which a file runs: first the longest slow ones, which are not slow by their time; last built code. */
export function partOf(file: string, project: string): number {
  if (isBuiltCode(file)) return 2;
  return project === 'slow' && file in slowTests && !thorough.includes(file) ? 1 : 0;
}
