import { parseDuration } from '../../contracts/durations.ts';

/** `90s`, `30m`, `24h` or `7d` in whole seconds; undefined for anything else. */
export function parseSeconds(text: string): number | undefined {
  const duration = parseDuration(text, ['s', 'm', 'h', 'd']);
  return duration === undefined || duration % 1000 !== 0 ? undefined : duration / 1000;
}

/**
 * A moment as a person gives it: `2h` (ago), or a time as `parseTime` takes it.
 * @returns RFC 3339 in UTC; undefined where it is none of these
 */
export function parseMoment(text: string, now: number): string | undefined {
  const ago = parseSeconds(text);
  return ago === undefined ? parseTime(text, now) : new Date(now - ago * 1000).toISOString();
}

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const inWords = new RegExp(
  `^(?:(today|yesterday|${weekdays.join('|')})(?:[ t]|$))?(\\d{2}:\\d{2}(?::\\d{2})?)?$`,
);

/** Days since the last one of this name; today is the last one of its own name. */
const daysSince = (name: string, today: Date): number =>
  weekdays.includes(name) ? (today.getDay() - weekdays.indexOf(name) + 7) % 7 : Number(name === 'yesterday');

/** The date and time of `14:00` (today), `yesterday` or `monday 14:00`; the text itself where it is none of these. */
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
 * A date, or a date and time, local unless it names its zone; or today, yesterday or a weekday, with or without a time.
 * @returns RFC 3339 in UTC; undefined for anything else
 */
export function parseTime(text: string, now: number): string | undefined {
  const full = dated(text, now);
  if (!/^\d{4}-\d{2}-\d{2}/.test(full)) return undefined;
  // A date alone would be read as UTC, a date and time as local.
  const date = new Date(full.length === 10 ? `${full}T00:00` : full);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
