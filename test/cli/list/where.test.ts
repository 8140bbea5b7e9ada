import { afterEach, describe, expect, it, vi } from 'vitest';
import { createFilter } from '../../../cli/list/where.ts';

const minute = 60_000;
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

const row = {
  id: 'dlv_1',
  partnerName: 'Acme & Co',
  lastStatus: 301,
  durationMs: 1_250,
  balance: 12_345,
  successShare: '12.5 %',
  lastAnswer: '503',
  expired: true,
  claims: ['age_18_plus', 'country'],
  none: [],
  lastUsedAt: null,
  createdAt: '2026-07-01T12:30:00.000Z',
  expiresAt: inMs(6 * 24 * 60 * minute),
  usedAt: inMs(-10 * minute),
};
const meets = (...where: string[]) => createFilter(where, ['reason'])(row);

describe('--where', () => {
  it.each([
    ['partnerName=acme & co', true],
    ['partnerName=Acme', false],
    ['partnerName~acme', true],
    ['partnerName!=Acme', true],
    ['lastStatus=301', true],
    ['last_status=301', true],
    ['Last status=302', false],
    ['lastStatus!=301', false],
    ['durationMs>1000', true],
    ['durationMs<1000', false],
    ['durationMs>1250', false],
    ['balance=123.45', true],
    ['balance=12345', false],
    ['balance<200', true],
    ['successShare<50', true],
    ['lastAnswer>499', true],
    ['lastAnswer<500', false],
    ['successShare>12.5', false],
    ['successShare=12.5 %', true],
    ['expired=yes', true],
    ['expired=true', true],
    ['expired=no', false],
    ['claims=country', true],
    ['claims=age', false],
    ['claims~age', true],
    ['claims!=country', false],
    ['none=', true],
    ['none!=', false],
    ['lastUsedAt=', true],
    ['lastUsedAt!=', false],
    ['lastUsedAt>7d', false],
    ['lastUsedAt!=yes', true],
    ['reason=', true],
    ['id!=', true],
    ['partnerName>5', false],
    ['partnerName<5', false],
    ['createdAt=2026-07-01', true],
    ['createdAt=2026-07-02', false],
    ['createdAt>2026-07-01T12:00:00Z', true],
    ['createdAt<2026-07-01T12:00:00Z', false],
    ['expiresAt<+7d', true],
    ['expiresAt<+5d', false],
    ['usedAt>1h', true],
    ['usedAt>5m', false],
  ])('evaluates the condition %s to %s for the sample row of this test', (condition, expected) => {
    expect(meets(condition)).toBe(expected);
  });

  describe('a day', () => {
    afterEach(() => void vi.unstubAllEnvs());

    it.each(['Pacific/Auckland', 'America/New_York'])('is from midnight to midnight in %s', (zone) => {
      vi.stubEnv('TZ', zone);
      const isOnDay = (at: Date) => createFilter(['at=2026-07-01'], ['at'])({ at: at.toISOString() });
      const isAfterBegin = (at: Date) => createFilter(['at>2026-07-01'], ['at'])({ at: at.toISOString() });
      const [firstMs, lastMs] = [new Date(2026, 6, 1, 0, 0, 0, 1), new Date(2026, 6, 1, 23, 59, 59, 999)];
      for (const time of [firstMs, lastMs]) expect([isOnDay(time), isAfterBegin(time)]).toEqual([true, true]);
      const before = new Date(2026, 5, 30, 23, 59, 59, 999);
      expect([isOnDay(before), isAfterBegin(before)]).toEqual([false, false]);
      expect(isOnDay(new Date(2026, 6, 2))).toBe(false);
    });
  });

  it('accepts only a row that meets all conditions', () => {
    expect(meets('lastStatus=301', 'expired=yes')).toBe(true);
    expect(meets('lastStatus=301', 'expired=no')).toBe(false);
  });

  it('accepts a value that contains an operator', () => {
    expect(createFilter(['state=a=b<c'], [])({ state: 'a=b<c' })).toBe(true);
  });

  it.each([
    ['lastStatus', 'is not a condition'],
    ['=301', 'is not a condition'],
    ['colour=red', 'colour is not a column'],
    ['durationMs>fast', 'fast is not a number'],
    ['balance<1.005', '1.005 is not a number'],
    ['createdAt>soon', 'soon is not a time'],
    ['partnerName>a', 'partnerName has neither numbers nor times'],
  ])('throws for the condition %s an error with the text "%s"', (condition, message) => {
    expect(() => meets(condition)).toThrow(message);
  });
});
