import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { boundedCents, boundedSeconds } from '../../contracts/admin/bounded.ts';
import { inputWith, leavesOf } from '../platform/schema-bounds.ts';

const folder = new URL('../../contracts/admin/', import.meta.url);
const modules = await Promise.all(
  readdirSync(folder).map((file) => import(new URL(file, folder).href) as Promise<Record<string, unknown>>),
);
const schemas = modules.flatMap((exported) =>
  Object.entries(exported).filter((entry): entry is [string, z.ZodType] => entry[1] instanceof z.ZodType),
);

/** Numbers that people type as they are. All other numbers are seconds or cents, which people type in other units. */
const counts = new Set([
  ...['limit', 'rate', 'days', 'daysLeft', 'afterSeq', 'untilSeq'],
  ...['perMinute', 'perHour', 'ceilingPerMinute', 'ceilingPerHour'],
  ...['tokenRequestsPerMinute', 'userinfoRequestsPerMinute'],
]);

/** The faults of a number that is out of its bounds, also within unions. */
const boundFaults = (issues: readonly z.core.$ZodIssue[]): string[] =>
  issues.flatMap((issue) => {
    if (issue.code === 'invalid_union') return issue.errors.flatMap(boundFaults);
    return ['too_big', 'too_small'].includes(issue.code) ? [issue.message] : [];
  });

const bounded = schemas.flatMap(([name, schema]) =>
  leavesOf(schema)
    .filter(({ under }) => under !== undefined)
    .map((leaf) => ({ name: `${name} ${leaf.path.join('.')}`, schema, leaf })),
);

describe('a bound of seconds or cents in the admin API', () => {
  it('is named in the unit that people type', () => {
    const typed = bounded.filter(({ leaf }) => !counts.has(leaf.path.at(-1) ?? ''));
    expect(typed.length).toBeGreaterThan(10);
    const badlyWorded = typed.flatMap(({ name, schema, leaf }) =>
      [leaf.over, leaf.under].flatMap((value) => {
        const { error } = schema.safeParse(inputWith({ ...leaf, over: value }));
        const faults = boundFaults(error?.issues ?? []);
        return faults.length === 1 && /\d (USD|days?|hours?|minutes?|seconds?)$/.test(faults[0] ?? '')
          ? []
          : [`${name}: ${faults.join('; ')}`];
      }),
    );
    expect(badlyWorded).toEqual([]);
  });

  it.each([
    [boundedSeconds(60, 30 * 86_400), 59, 'at least 1 minute'],
    [boundedSeconds(60, 30 * 86_400), 30 * 86_400 + 1, 'at most 30 days'],
    [boundedSeconds(0, 7_200), -1, 'at least 0 seconds'],
    [boundedSeconds(0, 7_200), 7_201, 'at most 2 hours'],
    [boundedSeconds(0, 90), 91, 'at most 90 seconds'],
    [boundedCents(-100, 123_450), 123_451, 'at most 1234.50 USD'],
    [boundedCents(-100, 123_450), -101, 'at least -1.00 USD'],
  ])('%# is refused with its words', (schema, value, words) => {
    expect(schema.safeParse(value).error?.issues.map(({ message }) => message)).toEqual([words]);
  });
});
