/**
 * Parses the `birthdate` of OpenID Connect Core 5.1, such as `2001-02-28` or `2001`. Undefined if the text is not a date. Undefined
 * also for `0000-02-28`, because the year 0000 means that the provider does not tell the year.
 */
function parseBirthdate(text: unknown): { year: number; month?: number; day?: number } | undefined {
  if (typeof text !== 'string') return undefined;
  const parts = /^(?<year>\d{4})(?:-(?<month>\d{2})-(?<day>\d{2}))?$/.exec(text)?.groups;
  if (!parts) return undefined;
  const year = Number(parts['year']);
  if (year === 0) return undefined;
  if (parts['month'] === undefined) return { year };
  const [month, day] = [Number(parts['month']), Number(parts['day'])];
  // `Date` turns a day that does not exist, such as 30 February, into a later one.
  const date = new Date(Date.UTC(year, month - 1, day));
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return exists ? { year, month, day } : undefined;
}

/**
 * Whether a person born on `birthdate` is at least `years` old at the time `now`, in UTC. Null if the date does not tell it. A person
 * born on 29 February is a year older on 1 March.
 */
export function isOfAge(birthdate: unknown, years: number, now: Date): boolean | null {
  const born = parseBirthdate(birthdate);
  if (!born) return null;
  const { year, month, day } = born;
  if (month === undefined || day === undefined) {
    // Only the year of birth is known, so the age that the person reaches this year is known, but not the birthday.
    const ageThisYear = now.getUTCFullYear() - year;
    return ageThisYear === years ? null : ageThisYear > years;
  }
  return Date.UTC(year + years, month - 1, day) <= now.getTime();
}
