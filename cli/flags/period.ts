import * as Flags from '@oclif/core/flags';
import { usageError } from '../errors/failure.ts';
import { parseMoment } from './durations.ts';
import { notAMoment, requireFromBeforeTo } from './flags.ts';
import { timeInZone } from './zones.ts';

/** Flags for a period of entries: a month, or two times. */
export const periodFlags = {
  from: Flags.string({ description: 'entries since this time', helpValue: '2026-06-01' }),
  to: Flags.string({ description: 'entries before this time', helpValue: '2026-07-01' }),
  month: Flags.string({
    description: 'only entries of this month',
    helpValue: '2026-06',
    exclusive: ['from', 'to'],
  }),
};

interface Period {
  from: string | undefined;
  to: string | undefined;
}

/** Returns the first days of a month such as `2026-06` and of the next one. @throws CommandError for any other text */
function monthOf(text: string): Period {
  if (!/^2\d{3}-(?:0[1-9]|1[0-2])$/.test(text)) throw usageError(`${text} is not a month such as 2026-06`);
  const next = new Date(`${text}-01T00:00Z`);
  next.setUTCMonth(next.getUTCMonth() + 1);
  return { from: `${text}-01`, to: next.toISOString().slice(0, 'YYYY-MM-DD'.length) };
}

/** Parses a time in a zone. @throws CommandError if it is none */
function requireMoment(typed: string | undefined, zone: string): string | undefined {
  if (typed === undefined) return undefined;
  const iso = parseMoment(typed, Date.now(), zone);
  if (iso === undefined) throw notAMoment(typed);
  return iso;
}

/**
 * Returns the period of `periodFlags`, as RFC 3339 in UTC. Texts that name no zone are in `zone`.
 * @throws CommandError if the period ends before it begins
 */
export function readPeriod(
  flags: { [Name in keyof typeof periodFlags]?: string | undefined },
  zone: string,
): Period {
  const { from, to } = flags.month === undefined ? flags : monthOf(flags.month);
  const period = { from: requireMoment(from, zone), to: requireMoment(to, zone) };
  requireFromBeforeTo(period.from, period.to);
  return period;
}

/** Writes a period with its zone, such as `2026-06-01 00:00:00 to now (UTC)`. Its ends are RFC 3339 in UTC. */
export function describePeriod({ from, to }: Period, zone: string): string {
  const [begin, end] = [from, to].map((iso) => iso && timeInZone(iso, zone));
  return `${begin ?? 'the beginning'} to ${end ?? 'now'} (${zone})`;
}
