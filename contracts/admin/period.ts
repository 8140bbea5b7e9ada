import type { z } from 'zod';

/** The names of the two ends of a period. The first one is included, the second one is not. */
const periodEnds = [
  ['since', 'until'],
  ['from', 'to'],
] as const;

type Fields = Readonly<Record<string, unknown>>;

const timeOf = (value: unknown): number => (typeof value === 'string' ? Date.parse(value) : Number.NaN);

/** Refuses an input whose period does not end after it begins, because it selects nothing. Its `filter` may have the period. */
export const withPeriodInOrder = <Schema extends z.ZodType>(schema: Schema) =>
  schema.superRefine((input, context) => {
    const { filter } = (input ?? {}) as Fields;
    for (const [fields, path] of [
      [input, []],
      [filter, ['filter']],
    ] as const) {
      for (const [begin, end] of periodEnds) {
        const { [begin]: from, [end]: to } = (fields ?? {}) as Fields;
        if (timeOf(from) >= timeOf(to))
          context.addIssue({
            code: 'custom',
            path: [...path, end],
            message: 'must be later than the beginning of the period',
          });
      }
    }
  });
