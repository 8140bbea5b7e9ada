import { defineConfig } from 'vitest/config';
import { limits } from './test/harness/time-limits.ts';
import { builtCode, isolated, slow, thorough } from './.config/test-tiers.ts';

const root = new URL('.', import.meta.url).pathname;
// What is built is imported as Node does it.
const server = { deps: { external: [/\/dist\//] } };
const shared = {
  ...{ root, server, disableConsoleIntercept: true, testTimeout: limits.test, hookTimeout: limits.test },
  setupFiles: ['test/harness/after-file.ts'],
  // Most polls are a request of several milliseconds of processor time.
  expect: { poll: { interval: 50, timeout: limits.poll } },
};
interface Settings {
  include: string[];
  exclude?: string[];
  isolate?: boolean;
  provide?: { thorough: boolean };
}
const project = (name: string, settings: Settings) => ({
  test: { ...shared, name, provide: { thorough: false }, ...settings },
});

export default defineConfig({
  test: {
    root,
    globalSetup: ['test/harness/engine.ts'],
    maxWorkers: 2,
    projects: [
      project('quick', {
        include: ['test/**/*.test.ts'],
        // Packages that recipes use have tests of their own.
        exclude: ['**/node_modules/**', ...slow, ...isolated, ...builtCode],
        isolate: false,
      }),
      project('quick-cli', { include: builtCode, exclude: [...slow, ...isolated], isolate: false }),
      project('quick-isolated', { include: isolated }),
      project('slow', { include: [...slow, ...thorough], provide: { thorough: true } }),
    ],
  },
});
