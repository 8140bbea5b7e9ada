import { usageError } from '../errors/failure.ts';

/** The zone of this computer. Its clocks show times that name no other zone. */
export function localZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  try {
    return requireZone(timeZone);
  } catch {
    // With an empty TZ, it is `Etc/Unknown`, which no function accepts. The clocks then show UTC.
    return 'UTC';
  }
}

/** The fields of a date and time as the clocks of a zone show them. */
const fields = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
} as const;

/** @throws CommandError unless the name is one of the time zone database, such as `Europe/Berlin` */
export function requireZone(name: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    throw usageError(`${name} is not a time zone such as UTC or Europe/Berlin`);
  }
}

/** What the clocks of a zone show at a moment, as `2026-07-01T14:00:00`. @param at in milliseconds */
export function wallTime(at: number, zone: string): string {
  const parts = new Intl.DateTimeFormat('en', { ...fields, timeZone: zone }).formatToParts(at);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? '';
  const day = [part('year').padStart(4, '0'), part('month'), part('day')].join('-');
  return `${day}T${[part('hour'), part('minute'), part('second')].join(':')}`;
}

/** The difference between the clocks of a zone and UTC at a moment, in milliseconds. */
const offsetAt = (at: number, zone: string) =>
  Date.parse(`${wallTime(at, zone)}Z`) - Math.floor(at / 1000) * 1000;

/**
 * The moment at which the clocks of a zone show a date and time, in milliseconds; NaN if the text is malformed.
 * A time that clocks skip is read as if they had not yet moved. Of a time that they show twice, it is the first.
 * @param wall such as `2026-07-01T14:00`
 */
export function momentAt(wall: string, zone: string): number {
  const asUtc = Date.parse(`${wall}Z`);
  if (Number.isNaN(asUtc)) return asUtc;
  const before = asUtc - offsetAt(asUtc - 86_400_000, zone);
  const after = asUtc - offsetAt(before, zone);
  const isShown = (at: number) => wallTime(at, zone) === wallTime(asUtc, 'UTC');
  return !isShown(before) && isShown(after) ? after : before;
}

/** Writes a time as the clocks of a zone show it, such as `2026-07-12 14:03:11`. */
export const timeInZone = (iso: string, zone: string): string =>
  wallTime(Date.parse(iso), zone).replace('T', ' ');
