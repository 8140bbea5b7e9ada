import type { NewTime } from '../../../../contracts/admin/deliveries.ts';
import { ApiError } from '../../../platform/errors.ts';

/** Returns the due time that an operator asks for. @throws ApiError `refused` for a time in the past */
export function requireDueTime({ at, inSeconds = 0 }: NewTime, now: Date): Date {
  const due = at === undefined ? new Date(now.getTime() + inSeconds * 1000) : new Date(at);
  if (due >= now) return due;
  throw new ApiError('refused', {
    description: `${due.toISOString()} is in the past; to send immediately, use 0 seconds from now`,
  });
}

/** Refuses a due time after the delivery's deletion. @throws ApiError `refused` */
export function requireKept(due: Date, purgeAt: Date | undefined): void {
  if (purgeAt === undefined || due < purgeAt) return;
  const description = `Deliveries are kept for 30 days, and this one until ${purgeAt.toISOString()}. The attempt must be due before that time`;
  throw new ApiError('refused', { description });
}
