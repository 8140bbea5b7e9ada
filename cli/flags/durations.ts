import { parseDuration } from '../../contracts/durations.ts';

/** Parses `90s`, `30m`, `24h` or `7d` as whole seconds; undefined for any other text. */
export function parseSeconds(text: string): number | undefined {
  const duration = parseDuration(text, ['s', 'm', 'h', 'd']);
  return duration === undefined || duration % 1000 !== 0 ? undefined : duration / 1000;
}

/**
 * Parses a moment: `2h` means two hours ago, any other text is parsed by `parseTime`.
 * @returns RFC 3339 in UTC; undefined if the text is not a moment
 */
export function parseMoment(text: string, now: number): string | undefined {
  const ago = parseSeconds(text);
  return ago === undefined ? parseTime(text, now) : new Date(now - ago * 1000).toISOString();
}

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const inWords = new RegExp(
  `^(?:(today|yesterday|${weekdays.join('|')})(?:[ t]|$))?(\\d{2}:\\d{2}(?::\\d{2})?)?$`,
);

/** Returns the number of days since the last weekday of this name. Today counts as the last one of its name. */
const daysSince = (name: string, today: Date): number =>
  weekdays.includes(name) ? (today.getDay() - weekdays.indexOf(name) + 7) % 7 : Number(name === 'yesterday');

/** Converts `14:00` (today), `yesterday` or `monday 14:00` to a date and time. Any other text is returned unchanged. */
function dated(text: string, now: number): string {
  const found = text === '' ? null : inWords.exec(text.toLowerCase());
  if (!found) return text;
  const [, name = 'today', time = '00:00'] = found;
  const day = new Date(now);
  day.setDate(day.getDate() - daysSince(name, day));
  const [year, month, date] = [day.getFullYear(), day.getMonth() + 1, day.getDate()];
  return `${year}-${String(month).padStart(2, '0')}-${String(date).padStart(2, '0')}T${time}`;
}

/**
 * Parses a date, or a date and time, in local time unless a zone is given. Also parses today, yesterday or a weekday, with or
 * without a time.
 * @returns RFC 3339 in UTC; undefined for any other text
 */
export function parseTime(text: string, now: number): string | undefined {
  const full = dated(text, now);
  if (!/^\d{4}-\d{2}-\d{2}/.test(full)) return undefined;
  // `Date` reads a date alone as UTC, but a date with a time as local time.
  const date = new Date(full.length === 10 ? `${full}T00:00` : full);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
