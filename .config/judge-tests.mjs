/**
 * Judges a run of the tests by vitest's JSON report. Continuous integration installs every program that a test needs,
 * so a test that was skipped there has not been run at all, and fails the run.
 */
import { readFileSync } from 'node:fs';

const [report = ''] = process.argv.slice(2);
const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
const of = (...statuses) => tests.filter(({ status }) => statuses.includes(status));
const passed = of('passed');
const failed = of('failed');
const notRun = tests.filter((test) => !passed.includes(test) && !failed.includes(test));

for (const { fullName } of notRun) console.error(`not run: ${fullName}`);
console.log(`${passed.length} passed, ${failed.length + notRun.length} failed`);
if (passed.length < tests.length || tests.length === 0) process.exitCode = 1;
