const dayAtStart = /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})/;

/**
 * Whether a text begins with a day of the calendar, such as `2026-11-30`. `Date` reads `2026-11-31` as the first of December, so
 * a date that a person has typed is checked before it is parsed.
 */
export function beginsWithDay(text: string): boolean {
  const { year, month, day } = dayAtStart.exec(text)?.groups ?? {};
  if (day === undefined) return false;
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return date.toISOString().startsWith(`${year}-${month}-${day}`);
}
