import { relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { partOf, projects } from './.config/test-tiers.ts';
import { limits } from './test/harness/time-limits.ts';

const root = new URL('.', import.meta.url).pathname;
// What is built is imported as Node does it.
const server = { deps: { external: [/\/dist\//] } };
const shared = {
  isolate: false,
  // Tests make much garbage: a young generation of 64 MB takes a tenth off their processor time.
  execArgv: ['--max-semi-space-size=64'],
  ...{ root, server, disableConsoleIntercept: true, testTimeout: limits.test, hookTimeout: limits.test },
  runner: 'test/harness/tier-runner.ts',
  setupFiles: ['test/harness/after-file.ts'],
  // Most polls are a request of several milliseconds of processor time.
  expect: { poll: { interval: 50, timeout: limits.poll } },
};

/** Within a project, runs the files part by part. */
class InParts extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const names = [...new Set(sorted.map(({ project }) => project.name))];
    const rankOf = ({ project, moduleId }: TestSpecification): number =>
      3 * names.indexOf(project.name) + partOf(relative(root, moduleId), project.name);
    return sorted.sort((one, other) => rankOf(one) - rankOf(other));
  }
}

export default defineConfig({
  test: {
    root,
    globalSetup: ['test/harness/engine.ts'],
    // Two processors. Many tests wait for another process.
    maxWorkers: 3,
    sequence: { sequencer: InParts },
    reporters: ['.config/quiet-reporter.mjs'],
    // Each project would compile the server again. The name of a file in the cache is a digest of what it was made from.
    experimental: { fsModuleCache: true },
    projects: projects.map(({ tier, ...project }) => ({
      test: { ...shared, ...project, provide: { tier, thorough: tier !== 'quick' } },
    })),
  },
});
