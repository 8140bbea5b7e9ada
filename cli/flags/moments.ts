import { usageError } from '../errors/failure.ts';
import { parseMoment, parseSeconds } from './durations.ts';

/** Parses a time: `7d` is 7 days ago, `+7d` is in 7 days. @throws CommandError if the text is not a time */
export function parsePastOrFuture(text: string): number {
  const now = Date.now();
  const secondsAhead = text.startsWith('+') ? parseSeconds(text.slice(1)) : undefined;
  if (secondsAhead !== undefined) return now + secondsAhead * 1000;
  const time = parseMoment(text, now);
  if (time === undefined)
    throw usageError(`${text} is not a time such as 2026-07-01, 7d (ago) or +7d (from now)`);
  return Date.parse(time);
}
