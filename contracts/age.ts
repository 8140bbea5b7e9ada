/** Parses `2001-02-28`, `2001` or `0000-02-28` (OpenID Connect Core 5.1). Undefined if the text is not a date. */
function parseBirthdate(text: unknown): { year: number; month?: number; day?: number } | undefined {
  if (typeof text !== 'string') return undefined;
  const [, yearText, monthText, dayText] = /^(\d{4})(?:-(\d{2})-(\d{2}))?$/.exec(text) ?? [];
  const year = Number(yearText);
  if (!year) return undefined;
  if (monthText === undefined) return { year };
  const month = Number(monthText);
  const day = Number(dayText);
  // `Date` turns a day that does not exist, such as 30 February, into a later one.
  const date = new Date(Date.UTC(year, month - 1, day));
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return exists ? { year, month, day } : undefined;
}

/**
 * Whether a person born on `birthdate` is at least `years` old at the time `now`, in UTC. Null if that is unknown: there is no
 * date or no year, or only a year in which the birthday may still be to come. A person born on 29 February is a year older on
 * 1 March.
 */
export function isOfAge(birthdate: unknown, years: number, now: Date): boolean | null {
  const born = parseBirthdate(birthdate);
  if (!born) return null;
  const { year, month, day } = born;
  const passed = now.getUTCFullYear() - year;
  if (month === undefined || day === undefined) return passed === years ? null : passed > years;
  return Date.UTC(year + years, month - 1, day) <= now.getTime();
}
