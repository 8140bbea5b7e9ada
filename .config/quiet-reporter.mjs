// Prints a dot a test file, `F` for one that failed, then the failures, and last the plain line `N passed, N failed`.
import { DefaultReporter } from 'vitest/node';

const dotsOfLine = 100;

export default class QuietReporter extends DefaultReporter {
  printed = 0;

  constructor() {
    super({ summary: false });
  }

  printTestModule(module) {
    if (module.state() === 'queued' || module.state() === 'pending') return;
    this.printed += 1;
    process.stdout.write(module.state() === 'failed' ? 'F' : '.');
    if (this.printed % dotsOfLine === 0) process.stdout.write('\n');
  }

  /** Tests of the other tier count as skipped, so their number says nothing here. */
  reportTestSummary(files, errors) {
    const ended = this.ctx.state.getTestModules().flatMap((module) => [...module.children.allTests()]);
    const of = (state) => ended.filter((test) => test.result().state === state).length;
    // A failed hook leaves its tests without a result, and a file that cannot be loaded has none.
    const brokenFiles = files.filter(({ result }) => result?.state === 'fail' && result.errors?.length > 0).length;
    const seconds = ((this.end - this.start) / 1000).toFixed(0);
    this.log(`\n${files.length} files in ${seconds} s`);
    this.log(`${of('passed')} passed, ${of('failed') + brokenFiles + errors.length} failed`);
  }
}
