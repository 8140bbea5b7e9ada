import { describe, expect, it } from 'vitest';
import {
  type Condition,
  nextWarning,
  type Warning,
  warningRetentionMs,
} from '../../../server/operations/warnings/warning.ts';
import { evaluateHour } from '../../../server/webhooks/operators/endpoints/hour-of-attempts.ts';

const hour = 3_600_000;
const start = Date.parse('2026-07-01T12:00:00Z');
const at = (ms: number) => new Date(start + ms);
const low: Condition = {
  ...{ kind: 'low_balance', partnerId: 'ptr_1', mode: 'live', about: 'live', afterMs: 0 },
  text: 'It is low',
};
const poor: Condition = { ...low, kind: 'endpoint_failing', about: 'key_1', afterMs: hour };

/** The next state of a warning. Fails if there is none. */
function next(known: Warning | undefined, condition: Condition | undefined, ms: number): Warning {
  const found = nextWarning(known, condition, at(ms));
  return typeof found === 'string' ? expect.fail(`it is ${found}`) : found;
}
/** A warning whose state was sent. */
const withoutUntold = ({ untold: _untold, ...warning }: Warning): Warning => warning;

describe('a warning', () => {
  it('is raised once, even if its cause lasts', () => {
    const raised = next(undefined, low, 0);
    expect(raised).toMatchObject({ untold: 'raised', raisedAt: at(0), since: at(0) });
    const later = next(withoutUntold(raised), { ...low, text: 'It is lower' }, hour);
    expect(later).toMatchObject({ text: 'It is lower', since: at(0), raisedAt: at(0), lastSeenAt: at(hour) });
    expect(later.untold).toBeUndefined();
    expect(later.revision).toBe(raised.revision + 1);
  });

  it('is raised when its cause has lasted for the minimum time, and is removed if the cause ends earlier', () => {
    const seen = next(undefined, poor, 0);
    expect(seen.raisedAt).toBeUndefined();
    expect(next(seen, poor, hour - 1).raisedAt).toBeUndefined();
    expect(next(seen, poor, hour)).toMatchObject({ raisedAt: at(hour), untold: 'raised', since: at(0) });
    expect(nextWarning(seen, undefined, at(1))).toBe('gone');
  });

  it('ends after an hour without its cause, and is not raised again if the cause returns earlier', () => {
    const raised = withoutUntold(next(undefined, low, 0));
    expect(nextWarning(raised, undefined, at(hour - 1))).toBe('unchanged');
    const again = next(raised, low, hour - 1);
    expect(nextWarning(again, undefined, at(hour))).toBe('unchanged');
    const over = next(again, undefined, 2 * hour);
    expect(over).toMatchObject({ untold: 'over', overAt: at(2 * hour), mailed: [] });
    expect(over.purgeAt).toEqual(at(2 * hour + warningRetentionMs));
    expect(nextWarning(withoutUntold(over), undefined, at(3 * hour))).toBe('unchanged');
  });

  it('is raised again if its cause returns after its end was sent, or two hours after an end that was not sent', () => {
    const over = next(withoutUntold(next(undefined, low, 0)), undefined, hour);
    expect(nextWarning(over, low, at(2 * hour))).toBe('unchanged');
    expect(nextWarning(over, low, at(3 * hour - 1))).toBe('unchanged');
    expect(next(over, low, 3 * hour)).toMatchObject({ untold: 'raised', since: at(3 * hour), mailed: [] });
    const second = next(withoutUntold(over), low, 2 * hour);
    expect(second).toMatchObject({ untold: 'raised', since: at(2 * hour) });
    expect([second.overAt, second.purgeAt]).toEqual([undefined, undefined]);
    expect(second.revision).toBe(over.revision + 1);
  });

  it('sends its end to all recipients, even if an e-mail about its beginning could not be sent', () => {
    const raised = { ...next(undefined, low, 0), mailed: ['hash of one of two addresses'] };
    expect(raised.untold).toBe('raised');
    expect(next(raised, undefined, hour)).toMatchObject({ overAt: at(hour), untold: 'over', mailed: [] });
  });
});

describe('the warning of a failing endpoint', () => {
  const attempt = (minutesAgo: number, status: number) => ({ at: at(-minutesAgo * 60_000), status });
  const diagnose = (...attempts: [minutesAgo: number, status: number][]) =>
    evaluateHour(
      attempts.map(([minutesAgo, status]) => attempt(minutesAgo, status)),
      start,
    );

  it('is due if no attempt has succeeded for an hour', () => {
    expect(diagnose([90, 200], [60, 500], [1, 503])).toEqual({ since: at(-hour), answers: ['503 (1)'] });
    expect(diagnose([90, 200], [59, 500], [1, 500])).toBeUndefined();
    expect(diagnose([70, 500])).toEqual({ since: at(-70 * 60_000), answers: ['500 (1)'] });
  });

  it('is due if less than half of four or more attempts in the last hour succeeded', () => {
    expect(diagnose([50, 200], [40, 500], [30, 500], [20, 404])).toEqual({
      since: undefined,
      answers: ['500 (2)', '404 (1)'],
    });
    expect(diagnose([50, 200], [40, 500], [30, 200], [20, 404])).toBeUndefined();
    expect(diagnose([50, 200], [40, 500], [30, 500])).toBeUndefined();
    expect(diagnose()).toBeUndefined();
  });
});
