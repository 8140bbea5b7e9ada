const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
export type DurationUnit = keyof typeof units;

/** Parses `90s`, `1.5h` or `7d` as milliseconds. Undefined for any other text, or for a unit that is not allowed. */
export function parseDuration(text: string, allowed: readonly DurationUnit[]): number | undefined {
  const { count, name } = /^(?<count>\d{1,9}(?:\.\d+)?)(?<name>[a-z]+)$/.exec(text)?.groups ?? {};
  const unit = allowed.find((one) => one === name);
  return count === undefined || unit === undefined ? undefined : Number(count) * units[unit];
}
