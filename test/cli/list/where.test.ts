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
  amount: 1_253_800,
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

/** The values of the row in words, with conditions that accept the row and conditions that reject it. */
const values: [value: string, accepted: string[], rejected: string[]][] = [
  [
    'the partnerName Acme & Co',
    ['partnerName=acme & co', 'partnerName~acme', 'partnerName!=Acme'],
    ['partnerName=Acme', 'partnerName>5', 'partnerName<5'],
  ],
  ['the lastStatus 301', ['lastStatus=301', 'last_status=301'], ['Last status=302', 'lastStatus!=301']],
  ['the durationMs 1250', ['durationMs>1000'], ['durationMs<1000', 'durationMs>1250']],
  ['a balance of 12345 cents', ['balance=123.45', 'balance<200'], ['balance=12345']],
  [
    'a deposit of 1253800 cents, with the commas of tables',
    ['amount=12,538.00', 'amount=12,538', 'amount=12538.00', 'amount>12,000', 'amount!=12,538.01'],
    ['amount!=12,538.00', 'amount<12,538.00', 'amount=-12,538.00'],
  ],
  ['the successShare "12.5 %"', ['successShare<50', 'successShare=12.5 %'], ['successShare>12.5']],
  ['the lastAnswer "503"', ['lastAnswer>499'], ['lastAnswer<500']],
  ['the value true in expired', ['expired=yes', 'expired=true'], ['expired=no']],
  ['the claims age_18_plus and country', ['claims=country', 'claims~age'], ['claims=age', 'claims!=country']],
  ['an empty list in none', ['none='], ['none!=']],
  ['no lastUsedAt', ['lastUsedAt=', 'lastUsedAt!=yes'], ['lastUsedAt!=', 'lastUsedAt>7d']],
  ['no reason', ['reason='], []],
  ['the id dlv_1', ['id!='], []],
  [
    'the createdAt 2026-07-01T12:30Z',
    ['createdAt=2026-07-01', 'createdAt>2026-07-01T12:00:00Z'],
    ['createdAt=2026-07-02', 'createdAt<2026-07-01T12:00:00Z'],
  ],
  ['an expiresAt in 6 days', ['expiresAt<+7d'], ['expiresAt<+5d']],
  ['a usedAt of 10 minutes ago', ['usedAt>1h'], ['usedAt>5m']],
];

describe('--where in a list command', () => {
  it.each(
    values.flatMap(([value, accepted, rejected]) => [
      ...accepted.map((condition) => ['accepts', value, condition] as const),
      ...rejected.map((condition) => ['rejects', value, condition] as const),
    ]),
  )('%s a row with %s for the condition %s', (verb, _value, condition) => {
    expect(meets(condition)).toBe(verb === 'accepts');
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
    ['balance<1.005', '1.005 is not an amount in dollars such as 50.00'],
    ['balance=abc', 'abc is not an amount in dollars such as 50.00'],
    ['balance!=abc', 'abc is not an amount in dollars such as 50.00'],
    ['balance=1,23', '1,23 is not an amount in dollars such as 50.00'],
    ['createdAt>soon', 'soon is not a time'],
    ['partnerName>a', 'partnerName has neither numbers nor times'],
  ])('throws for the condition %s the error "%s"', (condition, message) => {
    expect(() => meets(condition)).toThrow(message);
  });
});
