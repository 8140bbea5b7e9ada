import { parseDuration } from '../../contracts/durations.ts';

/** `90s`, `30m`, `24h` or `7d` in whole seconds; undefined for anything else. */
export function parseSeconds(text: string): number | undefined {
  const duration = parseDuration(text, ['s', 'm', 'h', 'd']);
  return duration === undefined || duration % 1000 !== 0 ? undefined : duration / 1000;
}

/**
 * A moment as a person gives it: `2h` (ago), a date, or a date and time, local unless it names its zone.
 * @returns RFC 3339 in UTC; undefined where it is none of these
 */
export function parseMoment(text: string, now: number): string | undefined {
  const ago = parseSeconds(text);
  return ago === undefined ? parseTime(text) : new Date(now - ago * 1000).toISOString();
}

/** A date, or a date and time, local unless it names its zone, as RFC 3339 in UTC; undefined for anything else. */
export function parseTime(text: string): string | undefined {
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return undefined;
  // A date alone would be read as UTC, a date and time as local.
  const date = new Date(text.length === 10 ? `${text}T00:00` : text);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
