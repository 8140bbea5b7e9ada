/**
 * Which tier a test belongs to. `npm test` runs the quick tier; `npm run test:all` runs the slow one too.
 *
 * The tier follows from the measured time: `npm run update:tiers` writes test/slow-tests.json. Files that need a browser,
 * another language or many processes are not measured. They are slow by their name, `*.slow.test.ts`, or by this list.
 * `npm run nightly` runs those named `*.nightly.test.ts`.
 */
import { readFileSync } from 'node:fs';

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
  'test/platform/{admin-url,first-use,greeting,health-listener,logs,reseal,restore,roll-out,start-fault,stop}.test.ts',
  // Processor time is measured, and hundreds of flows.
  'test/platform/longest-input.test.ts',
  'test/verification/flow/commands.test.ts',
  // A process for each test, and a receiver that is too slow for 10 s.
  'test/cli/svc/listen.test.ts',
  // A terminal and a shell.
  'test/cli/program/{completion,terminal}.test.ts',
];

/** Quick files that replace the time zone, `Intl` or timers for longer than a test, and so need a process of their own. */
const isolated = [
  'test/cli/output/output.test.ts',
  'test/platform/clock.test.ts',
  'test/proofs/delivery-simulation/simulation.test.ts',
  'test/proofs/simulation/simulation.test.ts',
  'test/verification/pages/formatters.test.ts',
];

/** Quick files that try a part of their cases; the slow tier runs them again, and tries all. */
const thorough = [
  'test/billing/exchange.test.ts',
  'test/contract/conforming-requests.test.ts',
  'test/portal/many.test.ts',
  'test/portal/scope.test.ts',
  'test/verification/flow/interleavings.test.ts',
];

/** Quick files that load the built command line into their process: its copies of the schemas are not to meet the source's. */
const builtCode = ['test/cli/**/*.test.ts', 'test/storefront/integrations.test.ts'];

/** By file: `true` if all its tests are slow, else the titles of those that are. With SVC_TEST_TIERS=off, all are quick. */
export type SlowTests = Record<string, true | string[]>;

export const slowTestsPath = new URL('../test/slow-tests.json', import.meta.url);
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
const isBuiltCode = (file: string): boolean =>
  builtCode.some((pattern) => file.startsWith(pattern.replace(/[*].*/, '')));

interface Project {
  name: string;
  tier: Tier;
  include: string[];
  exclude: string[];
  /** Whether each file gets a process of its own. */
  isolate: boolean;
}

// Packages that recipes use have tests of their own.
const nightly = ['test/**/*.nightly.test.ts'];
const never = ['**/node_modules/**'];
const notQuick = [...never, ...nightly, ...slow, ...entirelySlow];
const notShared = [...never, ...slow, ...isolated, ...thorough];

const project = (name: string, include: string[], exclude: string[], isolate = false): Project => ({
  ...{ name, include, exclude, isolate },
  tier: name.startsWith('quick') ? 'quick' : name.startsWith('slow') ? 'slow' : 'nightly',
});

/** The projects of vitest. In each tier, files share processes, except that built code and sources do not meet. */
export const projects: Project[] = [
  project('quick', ['test/**/*.test.ts'], [...notQuick, ...isolated, ...builtCode]),
  project('quick-cli', builtCode, [...notQuick, ...isolated]),
  project('quick-isolated', isolated, notQuick, true),
  project('slow-by-time', withSlowTests, [...notShared, ...builtCode]),
  project('slow-by-time-cli', withSlowTests.filter(isBuiltCode), notShared),
  project('slow', [...slow, ...thorough, ...isolated.filter((file) => file in slowTests)], never, true),
  project('nightly', nightly, never, true),
];
