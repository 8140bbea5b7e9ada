import { type RunnerTestCase, type RunnerTestFile, TestRunner } from 'vitest';
import { type Tier, titlesToRun } from '../../.config/test-tiers.ts';

declare module 'vitest' {
  interface ProvidedContext {
    tier: Tier;
  }
  interface TaskMeta {
    /** Milliseconds of processor time in the process of the test. */
    processorMs?: number;
  }
}

/**
 * Runs the tests of a file that belong to the tier of the project, and records the processor time of each.
 *
 * A test of the other tier counts as skipped, as one that `-t` does not match.
 */
export default class TierRunner extends TestRunner {
  private readonly givenPattern = this.config.testNamePattern;
  private readonly began = new Map<string, NodeJS.CpuUsage>();

  override onCollectStart(file: RunnerTestFile): void {
    super.onCollectStart(file);
    const tier: Tier = this.injectValue('tier');
    const pattern = titlesToRun(file.name, tier, this.givenPattern);
    this.config.testNamePattern = pattern;
  }

  /** The next file in this process has the same configuration. */
  onCollected(): void {
    this.config.testNamePattern = this.givenPattern;
  }

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    this.began.set(test.id, process.cpuUsage());
    await super.onBeforeRunTask(test);
  }

  override onAfterRunTask(test: RunnerTestCase): void {
    super.onAfterRunTask(test);
    const { user, system } = process.cpuUsage(this.began.get(test.id));
    test.meta.processorMs = (user + system) / 1000;
  }
}
