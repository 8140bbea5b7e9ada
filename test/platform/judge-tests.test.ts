import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { workspace } from '../contract/programs.ts';

const script = fileURLToPath(new URL('../../.config/judge-tests.mjs', import.meta.url));

/** Judges a report of one file whose tests ended like this. */
function judge(statuses: readonly string[]) {
  const report = join(workspace(), 'report.json');
  const assertionResults = statuses.map((status, at) => ({ status, fullName: `test ${at}` }));
  writeFileSync(report, JSON.stringify({ testResults: [{ assertionResults }] }));
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, report], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('the judgement of a test run', () => {
  it('passes a run in which every test passed', () => {
    expect(judge(['passed', 'passed'])).toEqual({
      status: 0,
      stdout: '2 passed, 0 failed\n',
      stderr: '',
    });
  });

  it.each(['skipped', 'pending', 'todo'])('counts a test that is %s as failed, and names it', (status) => {
    expect(judge(['passed', status])).toEqual({
      status: 1,
      stdout: '1 passed, 1 failed\n',
      stderr: 'not run: test 1\n',
    });
  });

  it('fails a run with a failed test, and one without any', () => {
    expect(judge(['passed', 'failed']).status).toBe(1);
    expect(judge([]).status).toBe(1);
  });
});
