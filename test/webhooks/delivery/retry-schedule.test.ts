import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AttemptError } from '../../../contracts/webhooks.ts';
import { dueBucket } from '../../../server/webhooks/delivery/due-job.ts';
import { afterAttempt } from '../../../server/webhooks/delivery/retry-schedule.ts';

const delays = [60_000, 300_000];
const at = new Date('2026-01-01T00:00:00.000Z');

describe('afterAttempt, the retry schedule of a delivery,', () => {
  it('marks the delivery as delivered after an attempt without an error', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3 }), (attempt) => {
        expect(afterAttempt({ attempt, limit: 3 }, { at }, delays)).toEqual({ status: 'delivered' });
      }),
    );
  });

  it.each([
    [
      'schedules attempt 2 a minute after the end of attempt 1 if that failed',
      1,
      { status: 'pending', attempt: 2, nextAttemptAt: new Date('2026-01-01T00:01:00.000Z') },
    ],
    [
      'schedules attempt 3 five minutes after the end of attempt 2 if that failed',
      2,
      { status: 'pending', attempt: 3, nextAttemptAt: new Date('2026-01-01T00:05:00.000Z') },
    ],
    ['marks the delivery as failed if attempt 3 failed', 3, { status: 'failed' }],
  ])('%s', (_, attempt, verdict) => {
    for (const error of AttemptError.options) {
      expect(afterAttempt({ attempt, limit: 3 }, { error, at }, delays)).toEqual(verdict);
    }
  });

  it('marks the delivery as failed after its first error if its limit is one attempt', () => {
    expect(afterAttempt({ attempt: 1, limit: 1 }, { error: 'dns', at }, delays)).toEqual({
      status: 'failed',
    });
  });
});

describe('dueBucket', () => {
  it('rounds the time at which a delivery is due down to the whole second', () => {
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true }), (moment) => {
        const late = moment.getTime() - dueBucket(moment).getTime();
        expect(late).toBeGreaterThanOrEqual(0);
        expect(late).toBeLessThan(1000);
        expect(dueBucket(moment).getMilliseconds()).toBe(0);
      }),
    );
  });
});
