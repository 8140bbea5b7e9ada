import { clockLeewayMs } from '../../platform/leeway.ts';

/** Whether a validity has begun, if the other party's clock may be ahead of ours. Times in milliseconds since the epoch. */
export const hasBegun = (begin: number, now: number): boolean => now >= begin - clockLeewayMs;

/** Whether a validity is over, if the other party's clock may be behind ours. Times in milliseconds since the epoch. */
export const isOver = (end: number, now: number): boolean => now >= end + clockLeewayMs;
