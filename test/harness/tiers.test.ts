import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type SlowTests, slowTestsPath, type Tier, titlesToRun } from '../../.config/test-tiers.ts';

const file = 'test/one.test.ts';
const slowTests: SlowTests = { [file]: ['the wallet (of $1) is full', 'a hook'] };

/** Whether a title runs in a tier, with what `-t` gives. */
function runs(tier: Tier, title: string, given?: RegExp): boolean {
  return titlesToRun(file, tier, given, slowTests)?.test(title) ?? true;
}

describe('the tiers of tests', () => {
  it.each(['the wallet (of $1) is full', 'a hook'])(
    'have the slow test "%s" in the slow tier only',
    (title) => {
      expect([runs('quick', title), runs('slow', title)]).toEqual([false, true]);
    },
  );

  it('have each other test of the file in the quick tier only', () => {
    expect([runs('quick', 'a hook of it'), runs('slow', 'a hook of it')]).toEqual([true, false]);
  });

  it('respect the pattern of `-t`', () => {
    expect([runs('slow', 'a hook', /hook/), runs('slow', 'a hook', /wallet/)]).toEqual([true, false]);
    expect([runs('quick', 'a rule', /rule/), runs('quick', 'a rule', /wallet/)]).toEqual([true, false]);
  });

  it('omit no test of a file that is entirely slow, or has no slow test', () => {
    expect(titlesToRun(file, 'slow', undefined, { [file]: true })).toBeUndefined();
    expect(titlesToRun(file, 'quick', /one/, {})).toEqual(/one/);
  });

  it('name only files that exist', () => {
    const files = Object.keys(JSON.parse(readFileSync(slowTestsPath, 'utf8')));
    expect(files.filter((path) => !existsSync(new URL(`../../${path}`, import.meta.url)))).toEqual([]);
  });
});
