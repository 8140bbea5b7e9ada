/**
 * Checks the tiers of a run by vitest's JSON reports, the quick one first. Continuous integration installs every program that
 * a test needs, so a test that ran in no tier fails the run. So do a tier without any test, a title in test/slow-tests.json that
 * no test has, and many quick tests that have become much too slow for their tier. Few do not: the first test that uses a large
 * library loads it.
 */
import { readFileSync } from 'node:fs';

/** Milliseconds of a quick test that is much too slow, by its processor time or with its waits. */
const longest = { processor: 450, whole: 3_000 };
const mostOutgrown = 20;

/** The tests of one report; none where the run ended before it was written. */
function testsOf(report) {
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    return testResults.flatMap(({ name, assertionResults }) =>
      assertionResults.map((test) => ({ ...test, file: name, key: `${name} ${test.fullName}` })),
    );
  } catch (error) {
    console.error(`${report}: ${error.message}`);
    return [];
  }
}

const [quick = [], ...others] = process.argv.slice(2).map(testsOf);
const tiers = [quick, ...others];
const tests = tiers.flat();
const of = (...statuses) => tests.filter(({ status }) => statuses.includes(status));
const passed = of('passed');
const failed = of('failed');
// A test is skipped in the tier to which it does not belong.
const ran = new Set([...passed, ...failed].map(({ key }) => key));
const notRun = [...new Set(tests.map(({ key }) => key))].filter((key) => !ran.has(key));
const empty = tiers.filter((tier) => !tier.some(({ status }) => status === 'passed'));
const listed = (name) => JSON.parse(readFileSync(new URL(`../test/${name}.json`, import.meta.url), 'utf8'));
const [slowTests, guardTests] = ['slow-tests', 'guard-tests'].map(listed);
const isGuard = ({ file, fullName }) =>
  Object.entries(guardTests).some(([path, titles]) => file.endsWith(path) && titles.includes(fullName));
const outgrown = quick.filter(
  (test) =>
    test.status === 'passed' &&
    !isGuard(test) &&
    (test.meta?.processorMs > longest.processor || test.duration > longest.whole),
);

/** Titles that were changed: the tests of these names belong to the tier of their time now. */
const stale = [...Object.entries(slowTests), ...Object.entries(guardTests)].flatMap(([path, titles]) => {
  const names = new Set(tests.filter(({ file }) => file.endsWith(path)).map(({ fullName }) => fullName));
  if (titles === true || names.size === 0) return [];
  return titles.filter((title) => !names.has(title)).map((title) => `${path} ${title}`);
});

for (const key of stale) console.error(`no such test, see test/README.md: ${key}`);
for (const key of notRun) console.error(`not run: ${key}`);
for (const { key, duration } of outgrown) {
  console.error(`too slow for the quick tier, see \`npm run update:tiers\`: ${key}: ${Math.round(duration)} ms`);
}
// Where the log is long, its end is what people see.
for (const { fullName, failureMessages = [] } of failed) console.error(`failed: ${fullName}\n${failureMessages.join('\n').slice(0, 2_000)}`);
if (empty.length > 0) console.error(`tiers without any test: ${empty.length} of ${tiers.length}`);
const faults = failed.length + notRun.length + stale.length + (outgrown.length > mostOutgrown ? outgrown.length : 0);
console.log(`${passed.length} passed, ${faults} failed`);
if (faults > 0 || empty.length > 0) process.exitCode = 1;
