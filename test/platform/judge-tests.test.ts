import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const script = fileURLToPath(new URL('../../.config/judge-tests.mjs', import.meta.url));

/** Checks a run whose tiers have tests with these results. Undefined is a tier without a report. */
function reportOn(...tiers: (readonly string[] | undefined)[]) {
  const reports = tiers.map((statuses, tier) => {
    const report = join(temporaryFolder('reports'), `report-${tier}.json`);
    const assertionResults = statuses?.map((status, at) => ({
      ...{ status, fullName: `test ${tier}.${at}` },
      ...(status === 'failed' ? { failureMessages: ['AssertionError: no'] } : {}),
    }));
    if (assertionResults) writeFileSync(report, JSON.stringify({ testResults: [{ assertionResults }] }));
    return report;
  });
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...reports], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('judge-tests, which checks the reports of a test run,', () => {
  it('passes a run if every test passed', () => {
    expect(reportOn(['passed', 'passed'])).toEqual({
      status: 0,
      stdout: '2 passed, 0 failed\n',
      stderr: '',
    });
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
      stderr: 'not run: test 0.1\n',
    });
  });

  it('exits with 1 if a tier has no test or no report', () => {
    expect(reportOn()).toMatchObject({ status: 1, stdout: '0 passed, 0 failed\n' });
    expect(reportOn(['passed'], [])).toMatchObject({ status: 1, stdout: '1 passed, 0 failed\n' });
    expect(reportOn(['passed'], undefined)).toMatchObject({ status: 1, stdout: '1 passed, 0 failed\n' });
  });
});
