import * as Flags from '@oclif/core/flags';
import { usageError } from '../errors/failure.ts';
import { isoOf, parseSeconds, parseTime } from './durations.ts';

/** A flag for the end of a hold: a time to come, or a duration from now. Its value is RFC 3339 in UTC. */
export const holdEnd = Flags.custom<string>({
  helpValue: '4h|2026-07-01T09:00',
  async parse(text) {
    // Other flags for a time to come need the plus, because `4h` alone is in the past there.
    const seconds = parseSeconds(text.replace(/^\+/, ''));
    const iso =
      seconds === undefined ? parseTime(text, Date.now()) : isoOf(Date.now() + seconds * 1000, text);
    if (iso === undefined)
      throw usageError(
        `${text} is neither a time such as 18:00 or 2026-07-01T09:00 nor a duration such as 4h`,
      );
    if (Date.parse(iso) <= Date.now()) throw usageError(`${text} is over`);
    return iso;
  },
});
