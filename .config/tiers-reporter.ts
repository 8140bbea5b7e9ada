// The reporter of `npm run update:tiers`, which runs all tests that are not slow by their name, one file after the other.
// It writes those that are slow by their time into test/slow-tests.json. With names of files, it changes only their entries.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { DefaultReporter, type TestModule } from 'vitest/node';
import { guardTestsPath, longestQuickMs, type SlowTests, slowTestsPath } from './test-tiers.ts';

/** A slow test becomes quick when it is clearly under the limit, so that two runs agree about most tests. */
const shareOfLimit = 2 / 3;

const before: SlowTests = JSON.parse(readFileSync(slowTestsPath, 'utf8'));
const guards: Record<string, string[]> = JSON.parse(readFileSync(guardTestsPath, 'utf8'));

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);

/** Returns the titles that are slow; `true` where the file's hooks would make the other tests slow too. */
function slowOf(module: TestModule): SlowTests[string] {
  const tests = [...module.children.allTests()].map((test) => ({
    title: test.fullName.replaceAll(' > ', ' '),
    ms: test.diagnostic()?.duration ?? 0,
  }));
  const known = before[module.relativeModuleId] ?? [];
  const limitOf = (title: string) =>
    longestQuickMs * (known === true || known.includes(title) ? shareOfLimit : 1);
  const guardTitles = guards[module.relativeModuleId] ?? [];
  const slow = tests.filter(({ title, ms }) => ms > limitOf(title) && !guardTitles.includes(title));
  const quick = tests.filter((test) => !slow.includes(test));
  const msOf = (some: typeof tests) => sum(some.map(({ ms }) => ms));
  const msOfQuick = module.diagnostic().duration - msOf(slow);
  const isTooSlow = slow.length > 0 && msOfQuick > longestQuickMs * quick.length;
  if (isTooSlow && guardTitles.length === 0) return true;
  // Only the guards of a file stay, if its hooks would make the others slow.
  const left = isTooSlow ? tests.filter(({ title }) => !guardTitles.includes(title)) : slow;
  return left.map(({ title }) => title).sort();
}

export default class TiersReporter extends DefaultReporter {
  override onTestRunEnd(...ended: Parameters<DefaultReporter['onTestRunEnd']>): void {
    super.onTestRunEnd(...ended);
    const [modules] = ended;
    const ran = new Set(modules.map(({ relativeModuleId }) => relativeModuleId));
    const others = Object.entries(before).filter(([file]) => !ran.has(file) && existsSync(file));
    const rows = modules
      .map((module): [string, SlowTests[string]] => [module.relativeModuleId, slowOf(module)])
      .filter(([, slow]) => slow === true || slow.length > 0)
      .concat(others)
      .sort(([one], [other]) => (one < other ? -1 : 1));
    writeFileSync(slowTestsPath, `${JSON.stringify(Object.fromEntries(rows), null, 1)}\n`);
  }
}
