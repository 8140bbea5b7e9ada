import { beginsWithDay } from '../../contracts/calendar.ts';
import { parseDuration } from '../../contracts/durations.ts';
import { usageError } from '../errors/failure.ts';
import { localZone, momentAt, wallTime } from './zones.ts';

/** Parses `90s`, `30m`, `24h` or `7d` as whole seconds. Returns undefined for any other text. */
export function parseSeconds(text: string): number | undefined {
  const durationMs = parseDuration(text, ['s', 'm', 'h', 'd']);
  return durationMs === undefined || durationMs % 1000 !== 0 ? undefined : durationMs / 1000;
}

const firstMoment = Date.parse('0001-01-01T00:00Z');
const endOfMoments = Date.parse('+010000-01-01T00:00Z');

/**
 * Writes a moment as RFC 3339 in UTC, whose years have four digits.
 * @param at in milliseconds
 * @param text what the person typed
 * @throws CommandError outside the years 0001 to 9999, which the server refuses or `Date` cannot write
 */
export function isoOf(at: number, text: string): string {
  if (at >= firstMoment && at < endOfMoments) return new Date(at).toISOString();
  throw usageError(`${text} is a time outside the years 0001 to 9999`);
}

/**
 * Parses a duration such as `2h` as the time two hours ago. Parses any other text with `parseTime`.
 * @returns the time as RFC 3339 in UTC; undefined if the text is neither a duration nor a time
 * @throws CommandError as `isoOf`
 */
export function parseMoment(text: string, now: number, zone = localZone()): string | undefined {
  const secondsAgo = parseSeconds(text);
  return secondsAgo === undefined ? parseTime(text, now, zone) : isoOf(now - secondsAgo * 1000, text);
}

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
/** Matches a day, a time, or both. As both are optional, it also matches an empty text. */
const dayAndTime = new RegExp(
  `^(?:(?<dayName>today|yesterday|${weekdays.join('|')})(?:[ t]|$))?(?<time>\\d{2}:\\d{2}(?::\\d{2})?)?$`,
);

/** Returns how many days ago `today`, `yesterday` or a weekday was. A weekday was 0 to 6 days ago: 0 if today is that day. */
function countDaysBack(dayName: string, today: Date): number {
  if (dayName === 'today') return 0;
  if (dayName === 'yesterday') return 1;
  return (today.getUTCDay() - weekdays.indexOf(dayName) + 7) % 7;
}

/** Converts `14:00` (today), `yesterday` or `monday 14:00` to a date and time. Returns any other text unchanged. */
function replaceDayName(text: string, now: number, zone: string): string {
  const found = dayAndTime.exec(text.toLowerCase())?.groups;
  if (text === '' || !found) return text;
  const { dayName = 'today', time = '00:00' } = found;
  // The date of the zone is counted back as if it were one of UTC, where every day has 24 hours.
  const day = new Date(`${wallTime(now, zone)}Z`);
  day.setUTCDate(day.getUTCDate() - countDaysBack(dayName, day));
  return `${day.toISOString().slice(0, 'YYYY-MM-DD'.length)}T${time}`;
}

/** Matches a date, or a date and time, without the name of a zone. */
const withoutZone =
  /^(?<date>\d{4}-\d{2}-\d{2})(?:[T ](?<time>(?:[01]\d|2[0-3]):\d{2}(?::\d{2}(?:\.\d{1,3})?)?))?$/i;

/** Matches a date and time with its zone. `Date` alone would also read `2026-07-01 12:00 PM`, `(x)` and `+25:00`. */
const withZone =
  /^\d{4}-\d{2}-\d{2}[T ](?:[01]\d|2[0-3]):\d{2}(?::\d{2}(?:\.\d+)?)? ?(?:Z|UTC|GMT|[+-](?:0\d|1[0-4]):?[0-5]\d)$/i;

/**
 * Parses a date, or a date and time. Also parses `today`, `yesterday` or a weekday, with or without a time.
 * @param zone the zone of a text that names none, such as `Europe/Berlin`
 * @returns the time as RFC 3339 in UTC; undefined for any other text, and for a day that the calendar does not have
 * @throws CommandError as `isoOf`
 */
export function parseTime(text: string, now: number, zone = localZone()): string | undefined {
  const full = replaceDayName(text, now, zone);
  if (!beginsWithDay(full)) return undefined;
  const { date, time = '00:00' } = withoutZone.exec(full)?.groups ?? {};
  if (date === undefined && !withZone.test(full)) return undefined;
  const at = date === undefined ? Date.parse(full) : momentAt(`${date}T${time}`, zone);
  return Number.isNaN(at) ? undefined : isoOf(at, text);
}
