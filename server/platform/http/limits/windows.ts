/** Fixed windows on wall-clock boundaries (interface section 8, rule 2). Times in milliseconds since the epoch. */
export const minute = 60_000;
export const hour = 3_600_000;

export function windowStart(now: number, length: number): number {
  return Math.floor(now / length) * length;
}

/** Whole seconds, at least 1, until the window that began at `start` ends (interface section 8, rule 3). */
export function secondsUntilRollover(start: number, length: number, now: number): number {
  return Math.max(1, Math.ceil((start + length - now) / 1000));
}
