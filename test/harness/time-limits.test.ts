import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { timeoutFactor, within } from './time-limits.ts';

const folder = fileURLToPath(new URL('..', import.meta.url));
/** A fixed limit of vitest or of a request, in milliseconds. */
const fixedLimit = /\b[tT]imeout: [\d_]|^\s*\}, [\d_]+\);$|\btimeout\([\d_]|Timeout\([\d_]/;

describe('the time limits of tests', () => {
  it.each([
    ['the load per processor', undefined, 3.5, 3.5],
    ['the load per processor if the variable is empty', '', 2, 2],
    ['1 on a quiet machine', undefined, 0.2, 1],
    ['10 at most by default', undefined, 40, 10],
    ['SVC_TEST_TIMEOUT_FACTOR if it is set', '4', 40, 4],
    ['SVC_TEST_TIMEOUT_FACTOR even above 10', '25', 0, 25],
  ])('are multiplied by %s', (_, given, load, expected) => {
    expect(timeoutFactor(given, load)).toBe(expected);
  });

  it.each(['0', '0.5', '-2', 'much', 'Infinity'])(
    'cause an error if the factor is "%s", because it must be a number from 1',
    (given) => {
      expect(() => timeoutFactor(given, 1)).toThrow(`must be a number from 1, not "${given}"`);
    },
  );

  it('are multiplied by one factor in all processes of a test run', () => {
    expect(within(1_000)).toBe(Math.ceil(1_000 * Number(process.env['SVC_TEST_TIMEOUT_FACTOR'])));
  });

  it('are multiplied by the factor in every test file: none has a fixed limit', () => {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.ts') && !name.includes('node_modules'),
    );
    const fixed = files.flatMap((name) =>
      readFileSync(`${folder}/${name}`, 'utf8')
        .split('\n')
        .flatMap((line, n) => (fixedLimit.test(line) ? [`${name}:${n + 1}: ${line.trim()}`] : [])),
    );
    expect(files.length).toBeGreaterThan(300);
    expect(fixed).toEqual([]);
  });
});
