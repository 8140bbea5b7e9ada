import { z } from 'zod';
import { dollars } from '../amounts.ts';

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** Writes whole seconds in the largest unit that they fill, such as `30 days`. */
function durationWords(seconds: number): string {
  const [name, size] = units.find(([, each]) => seconds >= each && seconds % each === 0) ?? ['second', 1];
  const count = seconds / size;
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

/** Seconds within bounds. People type durations such as `30d`, so that a fault names the bound as `at most 30 days`. */
export const boundedSeconds = (least: number, most: number) =>
  z
    .number()
    .int()
    .min(least, { error: `at least ${durationWords(least)}` })
    .max(most, { error: `at most ${durationWords(most)}` });

/**
 * Cents within bounds. People type dollars, so that a fault names the bound as `at most 50.00 USD`.
 * @param words what a fault says before the bound
 */
export const boundedCents = (
  least: number,
  most: number,
  words: { least: string; most: string } = { least: 'at least', most: 'at most' },
) =>
  z
    .number()
    .int()
    .min(least, { error: `${words.least} ${dollars(least)}` })
    .max(most, { error: `${words.most} ${dollars(most)}` });
