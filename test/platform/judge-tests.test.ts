import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const script = fileURLToPath(new URL('../../.config/judge-tests.mjs', import.meta.url));

type Test = string | Record<string, unknown>;

const lists = ['slow-tests', 'guard-tests'];
const listed = (name: string): Record<string, true | string[]> =>
  JSON.parse(readFileSync(new URL(`../${name}.json`, import.meta.url), 'utf8'));

/** Checks a run whose tiers have tests with these results. Undefined is a tier without a report. */
function reportOn(...tiers: (readonly Test[] | undefined)[]) {
  return reportOnFile('a.test.ts', tiers);
}

function reportOnFile(name: string, tiers: (readonly Test[] | undefined)[]) {
  const reports = tiers.map((statuses, tier) => {
    const report = join(temporaryFolder('reports'), `report-${tier}.json`);
    const assertionResults = statuses?.map((test, at) => ({
      ...{ fullName: `test ${tier}.${at}` },
      ...(typeof test === 'string' ? { status: test } : test),
      ...(test === 'failed' ? { failureMessages: ['AssertionError: no'] } : {}),
    }));
    if (assertionResults)
      writeFileSync(report, JSON.stringify({ testResults: [{ name, assertionResults }] }));
    return report;
  });
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...reports], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('judge-tests, which checks the reports of a test run,', () => {
  it('passes a run if every test passed', () => {
    expect(reportOn(['passed', 'passed'])).toEqual({ status: 0, stdout: '2 passed, 0 failed\n', stderr: '' });
  });

  it('prints the sum of passed and failed tests over all tiers, and exits with 1 if one failed', () => {
    expect(reportOn(['passed', 'passed'], ['passed'])).toMatchObject({
      status: 0,
      stdout: '3 passed, 0 failed\n',
    });
    expect(reportOn(['passed', 'failed'], ['passed', 'failed'])).toMatchObject({
      status: 1,
      stdout: '2 passed, 2 failed\n',
      stderr: 'failed: test 0.1\nAssertionError: no\nfailed: test 1.1\nAssertionError: no\n',
    });
  });

  it.each(['skipped', 'pending', 'todo'])('counts a test that is %s as failed, and names it', (status) => {
    expect(reportOn(['passed', status])).toEqual({
      status: 1,
      stdout: '1 passed, 1 failed\n',
      stderr: 'not run: a.test.ts test 0.1\n',
    });
  });

  it('passes a test that one tier skips and the other runs', () => {
    const of = (status: string) => ({ status, fullName: 'slow test' });
    expect(reportOn(['passed', of('skipped')], [of('passed')])).toMatchObject({
      status: 0,
      stdout: '2 passed, 0 failed\n',
    });
  });

  it.each([
    ['has used much processor time', { meta: { processorMs: 451 }, duration: 500 }],
    ['has waited for seconds', { meta: { processorMs: 10 }, duration: 3_001 }],
  ])('names a test of the first tier that %s, and fails a run with more than 20', (_, times) => {
    const slow = { status: 'passed', ...times };
    const few = reportOn(['passed', slow], ['passed']);
    expect(few).toMatchObject({ status: 0, stdout: '3 passed, 0 failed\n' });
    expect(few.stderr).toContain('too slow for the quick tier');
    expect(reportOn(Array(21).fill(slow))).toMatchObject({ status: 1, stdout: '21 passed, 21 failed\n' });
    expect(reportOn(['passed'], [slow])).toMatchObject({ status: 0, stderr: '' });
  });

  it.each(lists)('names a title in test/%s.json that no test of the file has, and exits with 1', (list) => {
    const [file = ''] = Object.entries(listed(list)).find(([, titles]) => titles !== true) ?? [];
    const titles = lists.flatMap((name) => [listed(name)[file] ?? []].flat());
    const missing = [listed(list)[file]].flat()[0];
    const tests = titles
      .filter((title) => title !== missing)
      .map((fullName) => ({ fullName, status: 'passed' }));
    const report = reportOnFile(`/checkout/${file}`, [[...tests, 'passed']]);
    expect(report).toMatchObject({ status: 1, stdout: `${tests.length + 1} passed, 1 failed\n` });
    expect(report.stderr).toBe(`no such test, see test/README.md: ${file} ${missing}\n`);
  });

  it('exits with 1 if a tier has no test or no report', () => {
    expect(reportOn()).toMatchObject({ status: 1, stdout: '0 passed, 0 failed\n' });
    expect(reportOn(['passed'], [])).toMatchObject({ status: 1, stdout: '1 passed, 0 failed\n' });
    expect(reportOn(['passed'], undefined)).toMatchObject({ status: 1, stdout: '1 passed, 0 failed\n' });
  });
});
