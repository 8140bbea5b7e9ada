import { parseDuration } from '../../contracts/durations.ts';
import { localTime } from '../output/format.ts';

/** Parses `90s`, `30m`, `24h` or `7d` as whole seconds. Returns undefined for any other text. */
export function parseSeconds(text: string): number | undefined {
  const durationMs = parseDuration(text, ['s', 'm', 'h', 'd']);
  return durationMs === undefined || durationMs % 1000 !== 0 ? undefined : durationMs / 1000;
}

/**
 * Parses a duration such as `2h` as the time two hours ago. Parses any other text with `parseTime`.
 * @returns the time as RFC 3339 in UTC; undefined if the text is neither a duration nor a time
 */
export function parseMoment(text: string, now: number): string | undefined {
  const secondsAgo = parseSeconds(text);
  return secondsAgo === undefined ? parseTime(text, now) : new Date(now - secondsAgo * 1000).toISOString();
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
  return (today.getDay() - weekdays.indexOf(dayName) + 7) % 7;
}

/** Converts `14:00` (today), `yesterday` or `monday 14:00` to a date and time. Returns any other text unchanged. */
function replaceDayName(text: string, now: number): string {
  const found = dayAndTime.exec(text.toLowerCase())?.groups;
  if (text === '' || !found) return text;
  const { dayName = 'today', time = '00:00' } = found;
  const day = new Date(now);
  day.setDate(day.getDate() - countDaysBack(dayName, day));
  const [date] = localTime(day.toISOString()).split(' ');
  return `${date}T${time}`;
}

/**
 * Parses a date, or a date and time, in local time unless the text names a zone. Also parses `today`, `yesterday` or a weekday,
 * with or without a time.
 * @returns the time as RFC 3339 in UTC; undefined for any other text
 */
export function parseTime(text: string, now: number): string | undefined {
  const full = replaceDayName(text, now);
  if (!/^\d{4}-\d{2}-\d{2}/.test(full)) return undefined;
  const isDateOnly = full.length === 'YYYY-MM-DD'.length;
  // `Date` reads a date alone as UTC, but a date with a time as local time.
  const date = new Date(isDateOnly ? `${full}T00:00` : full);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
