import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reportOf } from '../../../server/operations/service-status/report.ts';
import type { ServiceHour } from '../../../server/operations/service-status/service-hour-store.ts';

const minute = 60_000;
const hour = 60 * minute;
const begin = Date.parse('2026-03-04T00:00:00Z');

/** A record of an hour without outages, except for the given minutes. */
function hourOf(
  at: number,
  { down = [], ...counts }: Partial<ServiceHour> & { down?: number[] } = {},
): ServiceHour {
  const bits = (from: number) =>
    Array.from({ length: 30 }, (_, place) => (down.includes(from + place) ? 0 : 1 << place)).reduce(
      (a, b) => a | b,
      0,
    );
  return {
    _id: new Date(begin + at * hour).toISOString(),
    ...{ early: bits(0), late: bits(30) },
    ...{ requests: 0, errors: 0, webhooks: 0, webhooksTaken: 0, purgeAt: new Date(0) },
    ...counts,
  };
}

const full = 2 ** 30 - 1;

describe('a report of the service', () => {
  it('has empty lists of spans, incidents and days if no minute is recorded', () => {
    expect(reportOf([], begin)).toEqual({
      recordedSince: undefined,
      ...{ spans: [], incidents: [], days: [], hasErrors: false },
    });
  });

  it('counts minutes from the first recorded one on, except for the two latest minutes', () => {
    const records = [hourOf(0, { down: Array.from({ length: 10 }, (_, n) => n) })];
    const { recordedSince, spans, incidents } = reportOf(records, begin + 20 * minute + 5_000);
    expect(recordedSince).toEqual(new Date(begin + 10 * minute));
    expect(spans.map(({ available }) => available)).toEqual([1, 1, 1]);
    expect(incidents).toEqual([]);
  });

  it('has an incident for each unbroken time without a recorded minute, even across hours', () => {
    const records = [hourOf(0, { down: [5, 58, 59] }), hourOf(1, { down: [0, 1, 2] }), hourOf(2)];
    const { spans, incidents, days } = reportOf(records, begin + 3 * hour + minute);
    expect(incidents).toEqual([
      {
        kind: 'unavailable',
        from: '2026-03-04T00:58:00.000Z',
        until: '2026-03-04T01:03:00.000Z',
        minutes: 5,
      },
      {
        kind: 'unavailable',
        from: '2026-03-04T00:05:00.000Z',
        until: '2026-03-04T00:06:00.000Z',
        minutes: 1,
      },
    ]);
    expect(spans[0]?.unavailableMinutes).toBe(6);
    expect(spans[0]?.available).toBeCloseTo(174 / 180);
    expect(days).toEqual([expect.objectContaining({ day: '2026-03-04', unavailableMinutes: 6 })]);
  });

  it('reports the latest hours, if they have no record, as an outage that has not ended', () => {
    const { incidents } = reportOf([hourOf(0)], begin + 5 * hour);
    expect(incidents).toEqual([
      { kind: 'unavailable', from: '2026-03-04T01:00:00.000Z', until: null, minutes: 239 },
    ]);
  });

  it('has one incident for consecutive hours in which 1 % of the requests failed', () => {
    const busy = { requests: 1_000, errors: 10 };
    const quiet = { requests: 20, errors: 9 };
    const diluted = { requests: 5_000, errors: 49 };
    const records = [hourOf(0, busy), hourOf(1, busy), hourOf(2, quiet), hourOf(3, diluted), hourOf(4, busy)];
    const { incidents, hasErrors, spans } = reportOf(records, begin + 4 * hour + 30 * minute);
    expect(incidents).toEqual([
      { kind: 'errors', from: '2026-03-04T04:00:00.000Z', until: null, minutes: 30 },
      { kind: 'errors', from: '2026-03-04T00:00:00.000Z', until: '2026-03-04T02:00:00.000Z', minutes: 120 },
    ]);
    expect(hasErrors).toBe(true);
    expect([spans[0]?.requests, spans[0]?.errors]).toEqual([8_020, 88]);
    expect(reportOf(records.slice(0, 4), begin + 4 * hour).hasErrors).toBe(false);
  });

  it('has one day for each day since the first record, 90 at most', () => {
    const records = Array.from({ length: 91 * 24 }, (_, at) => hourOf(at));
    const { days, spans } = reportOf(records, begin + 91 * 24 * hour - minute);
    expect([days.length, days[0]?.day, days.at(-1)?.day]).toEqual([90, '2026-03-05', '2026-06-02']);
    expect(days.every(({ available }) => available === 1)).toBe(true);
    expect(spans.map(({ hours }) => hours)).toEqual([24, 168, 2160]);
  });

  it('has the same sum of unavailable minutes in its incidents as in its days, for any records', () => {
    const bits = fc.integer({ min: 0, max: full });
    fc.assert(
      fc.property(fc.array(fc.tuple(bits, bits), { minLength: 1, maxLength: 60 }), (masks) => {
        const records = masks.map(([early, late], at) => ({ ...hourOf(at), early, late }));
        const { incidents, days } = reportOf(records, begin + masks.length * hour);
        const ofIncidents = incidents.reduce((sum, { minutes }) => sum + minutes, 0);
        expect(days.reduce((sum, { unavailableMinutes }) => sum + unavailableMinutes, 0)).toBe(ofIncidents);
      }),
    );
  });
});
