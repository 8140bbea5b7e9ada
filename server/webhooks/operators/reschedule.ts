import type { NewTime } from '../../../contracts/admin/deliveries.ts';
import { ApiError } from '../../platform/errors.ts';

/** The due time that an operator asks for. @throws ApiError `refused` for a time in the past */
export function dueFrom({ at, inSeconds = 0 }: NewTime, now: Date): Date {
  const due = at === undefined ? new Date(now.getTime() + inSeconds * 1000) : new Date(at);
  if (due >= now) return due;
  throw new ApiError('refused', {
    description: `${due.toISOString()} is over; 0 seconds from now is at once`,
  });
}

/** @throws ApiError `refused` if the delivery is deleted before it is due */
export function requireKept(due: Date, purgeAt: Date | undefined): void {
  if (purgeAt === undefined || due < purgeAt) return;
  const description = `Deliveries are kept for 30 days, and this one until ${purgeAt.toISOString()}: the attempt must be due before`;
  throw new ApiError('refused', { description });
}
