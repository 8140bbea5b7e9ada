import { defineConfig } from 'vitest/config';
import { projects } from './.config/test-tiers.ts';
import { limits } from './test/harness/time-limits.ts';

const root = new URL('.', import.meta.url).pathname;
// What is built is imported as Node does it.
const server = { deps: { external: [/\/dist\//] } };
const shared = {
  isolate: false,
  ...{ root, server, disableConsoleIntercept: true, testTimeout: limits.test, hookTimeout: limits.test },
  runner: 'test/harness/tier-runner.ts',
  setupFiles: ['test/harness/after-file.ts'],
  // Most polls are a request of several milliseconds of processor time.
  expect: { poll: { interval: 50, timeout: limits.poll } },
};

export default defineConfig({
  test: {
    root,
    globalSetup: ['test/harness/engine.ts'],
    // Two processors. Many tests wait for another process.
    maxWorkers: 3,
    reporters: ['.config/quiet-reporter.mjs'],
    // Each project would compile the server again. The name of a file in the cache is a digest of what it was made from.
    experimental: { fsModuleCache: true },
    projects: projects.map(({ tier, ...project }) => ({
      test: { ...shared, ...project, provide: { tier, thorough: tier !== 'quick' } },
    })),
  },
});
