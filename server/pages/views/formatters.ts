/** Makes a formatter once for each key: making one takes as long as rendering a page. */
function once<Key, Formatter>(make: (key: Key) => Formatter): (key: Key) => Formatter {
  const made = new Map<Key, Formatter>();
  return (key) => {
    const formatter = made.get(key) ?? make(key);
    made.set(key, formatter);
    return formatter;
  };
}

const unitFormat = (unit: 'minute' | 'hour' | 'day') =>
  once(
    (language: string) =>
      new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long', useGrouping: false }),
  );
const units = { minute: unitFormat('minute'), hour: unitFormat('hour'), day: unitFormat('day') };
const relative = once((language: string) => new Intl.RelativeTimeFormat(language, { numeric: 'auto' }));

const dayFormat = once(
  (language: string) =>
    new Intl.DateTimeFormat(language, { year: 'numeric', month: 'long', day: 'numeric', timeZone: 'UTC' }),
);

/** Writes the day of a time in UTC, such as "24 November 2026". */
export const dayInWords = (language: string, at: Date): string => dayFormat(language).format(at);

const momentFormat = once(
  (language: string) =>
    new Intl.DateTimeFormat(language, {
      year: 'numeric',
      month: 'long',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      timeZone: 'UTC',
      timeZoneName: 'short',
    } as const),
);

/** A minute of UTC in words: "24 November 2026 at 14:03 UTC". */
export const momentInWords = (language: string, at: Date): string => momentFormat(language).format(at);

/** A time in words: "12 minutes". */
export const timeInWords = (language: string, count: number, unit: keyof typeof units): string =>
  units[unit](language).format(count);

/** How long ago something was, in words: "3 minutes ago". */
export const minutesAgoInWords = (language: string, minutes: number): string =>
  relative(language).format(-minutes, 'minute');
