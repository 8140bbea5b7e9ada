/**
 * Which tier a test file belongs to. `npm test` runs the quick tier; `npm run test:all` runs the slow one too. A file is in
 * the slow tier by its name, `*.slow.test.ts`, or by this list.
 */
export const slow = [
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
export const isolated = [
  'test/cli/output/output.test.ts',
  'test/platform/clock.test.ts',
  'test/proofs/simulation/simulation.test.ts',
  'test/verification/pages/formatters.test.ts',
];

/** Quick files that try a part of their cases; the slow tier runs them again, and tries all. */
export const thorough = [
  'test/billing/exchange.test.ts',
  'test/contract/conforming-requests.test.ts',
  'test/portal/{many,scope}.test.ts',
  'test/verification/flow/interleavings.test.ts',
];

/** Quick files that load the built command line into their process: its copies of the schemas are not to meet the source's. */
export const builtCode = ['test/cli/**/*.test.ts', 'test/storefront/integrations.test.ts'];
