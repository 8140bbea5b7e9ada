import { localTime } from '../output/format.ts';

/** The time until which a secret is kept that is rotated now. */
export const untilAfter = (seconds: number): string =>
  localTime(new Date(Date.now() + seconds * 1000).toISOString());
