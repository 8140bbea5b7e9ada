/**
 * Judges the tiers of a run by vitest's JSON reports, one for each. Continuous integration installs every program that a test
 * needs, so a test that was skipped there has not been run at all, and fails the run. So does a tier without any test.
 */
import { readFileSync } from 'node:fs';

/** The tests of one report; none where the run ended before it was written. */
function testsOf(report) {
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    return testResults.flatMap(({ assertionResults }) => assertionResults);
  } catch (error) {
    console.error(`${report}: ${error.message}`);
    return [];
  }
}

const tiers = process.argv.slice(2).map(testsOf);
const tests = tiers.flat();
const of = (...statuses) => tests.filter(({ status }) => statuses.includes(status));
const passed = of('passed');
const failed = of('failed');
const notRun = tests.filter((test) => !passed.includes(test) && !failed.includes(test));
const empty = tiers.filter((tier) => tier.length === 0);

for (const { fullName } of notRun) console.error(`not run: ${fullName}`);
// Where the log is long, its end is what people see.
for (const { fullName, failureMessages = [] } of failed) console.error(`failed: ${fullName}\n${failureMessages.join('\n').slice(0, 2_000)}`);
if (empty.length > 0) console.error(`tiers without any test: ${empty.length} of ${tiers.length}`);
console.log(`${passed.length} passed, ${failed.length + notRun.length} failed`);
if (passed.length < tests.length || empty.length > 0 || tiers.length === 0) process.exitCode = 1;
