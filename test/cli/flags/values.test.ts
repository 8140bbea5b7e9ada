import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { formatCents, parseFormattedCents } from '../../../cli/flags/amounts.ts';
import { isoOf, parseMoment, parseSeconds, parseTime } from '../../../cli/flags/durations.ts';
import { localTimeIn } from '../../../cli/flags/flags.ts';
import { holdEnd } from '../../../cli/flags/hold-end.ts';
import { momentAt, wallTime } from '../../../cli/flags/zones.ts';
import { parseDollars } from '../../../contracts/amounts.ts';

describe('amounts in dollars', () => {
  it('parseFormattedCents reads what formatCents prints, to the cent, and parseDollars without the commas', () => {
    fc.assert(
      fc.property(fc.integer({ min: -99_999_999_999_999, max: 99_999_999_999_999 }), (cents) => {
        expect(parseFormattedCents(formatCents(cents))).toBe(cents);
        expect(parseDollars(formatCents(cents).replaceAll(',', ''), { canBeNegative: true })).toBe(cents);
      }),
    );
  });

  it('formatCents prints a minus for negative amounts, and no other sign', () => {
    expect([0, 5, -5].map(formatCents)).toEqual(['0.00', '0.05', '-0.05']);
  });

  it.each([
    ['50', 5000],
    ['50.0', 5000],
    ['50.00', 5000],
    ['0.29', 29],
    ['1.1', 110],
    ['1000000', 100_000_000],
  ])('parseDollars reads %s as %i cents', (text, cents) => {
    expect(parseDollars(text)).toBe(cents);
  });

  it.each(['', '-1', '.5', '5.', '1.005', '1,000', '1e3', '0x10', ' 1', '$5', 'NaN', '1234567890123', '٣'])(
    'parseDollars returns undefined for %j',
    (text) => {
      expect(parseDollars(text)).toBeUndefined();
    },
  );

  it.each(['1,2', '1,0000', ',100', '1,000,', '1,00.50', '1000,000', '1.000,00'])(
    'parseFormattedCents returns undefined for %j, whose commas do not part thousands',
    (text) => {
      expect(parseFormattedCents(text)).toBeUndefined();
    },
  );

  it('parseDollars accepts a minus with `canBeNegative`', () => {
    expect(parseDollars('-12.50', { canBeNegative: true })).toBe(-1250);
    expect(parseDollars('-0', { canBeNegative: true })).toBe(0);
  });
});

describe('the value of a flag for a time', () => {
  it('may begin with a plus if it is the end of a hold, as in other flags for a time to come', async () => {
    const parse = (text: string) => holdEnd().parse(text, {} as never, {} as never);
    for (const text of ['4h', '+4h']) {
      const aheadMs = Date.parse((await parse(text)) ?? '') - Date.now();
      expect(Math.abs(aheadMs - 4 * 3_600_000), text).toBeLessThan(60_000);
    }
    for (const text of ['++4h', '+', '+2026-07-01', '-4h']) await expect(parse(text), text).rejects.toThrow();
  });

  it('is parsed as a duration, a time with a zone or a local date; malformed text yields undefined', () => {
    expect(['90s', '30m', '24h', '7d', '24', 'h', '1.5h'].map(parseSeconds)).toEqual([
      ...[90, 1800, 86_400, 604_800],
      ...[undefined, undefined, 5400],
    ]);
    const now = Date.UTC(2026, 6, 1, 12);
    expect(parseMoment('2h', now)).toBe('2026-07-01T10:00:00.000Z');
    expect(parseMoment('2026-07-01T10:00:00+02:00', now)).toBe('2026-07-01T08:00:00.000Z');
    expect(parseMoment('2026-07-01', now)).toBe(new Date(2026, 6, 1).toISOString());
    for (const text of ['', 'tomorrow', '25:00', 'monday14:00', 'mon'])
      expect(parseMoment(text, now)).toBeUndefined();
    expect(parseMoment('2026-13-01', now)).toBeUndefined();
  });

  it.each([
    ...['2026-11-31', '2026-02-29', '2026-00-10', '2026-11-31T10:00', '2026-02-30T10:00:00Z'],
    '2026-06-31 10:00',
  ])('is malformed if the calendar does not have its day: %s', (text) => {
    expect(parseMoment(text, Date.UTC(2026, 6, 1))).toBeUndefined();
  });

  it.each([
    ...['2026-07-01 12:00 PM', '2026-07-01 (x)', '2026-07-01 1:00', '2026-07-01 12:00+25:00'],
    ...['2026-07-01T24:00:00Z', '2026-07-01 24:00', '2026-07-01 EST'],
  ])('is malformed if only `Date` reads it: %s', (text) => {
    expect(parseMoment(text, Date.UTC(2026, 6, 2))).toBeUndefined();
  });

  it('is read in the zone that is given, also around changes of its clocks', () => {
    const now = Date.UTC(2026, 6, 1, 23);
    const read = (text: string, zone: string) => parseMoment(text, now, zone);
    expect(read('2026-07-01', 'Europe/Berlin')).toBe('2026-06-30T22:00:00.000Z');
    expect(read('2026-01-01T12:30', 'America/New_York')).toBe('2026-01-01T17:30:00.000Z');
    expect(read('2026-03-29', 'Europe/Berlin')).toBe('2026-03-28T23:00:00.000Z');
    expect(read('2026-03-30', 'Europe/Berlin')).toBe('2026-03-29T22:00:00.000Z');
    expect(read('2026-10-25T02:30', 'Europe/Berlin')).toBe('2026-10-25T00:30:00.000Z');
    expect(read('today', 'Europe/Berlin')).toBe('2026-07-01T22:00:00.000Z');
    expect(read('2026-07-01T10:00:00Z', 'Europe/Berlin')).toBe('2026-07-01T10:00:00.000Z');
    expect(read('2h', 'Europe/Berlin')).toBe('2026-07-01T21:00:00.000Z');
  });

  it.each([
    ['2026-03-29T02:30', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
    ['2026-04-24', 'Africa/Cairo', '2026-04-23T22:00:00.000Z'],
    ['2018-11-04', 'America/Sao_Paulo', '2018-11-04T03:00:00.000Z'],
    ['2011-12-30', 'Pacific/Apia', '2011-12-30T10:00:00.000Z'],
  ])('is read as if the clocks had not yet moved if they skip it: %s in %s', (text, zone, moment) => {
    expect(parseMoment(text, Date.UTC(2026, 6, 1), zone)).toBe(moment);
  });

  it('is the moment at which the clocks of any zone show it', () => {
    const zones = fc.constantFrom(
      'UTC',
      'Europe/Berlin',
      'America/St_Johns',
      'Asia/Kathmandu',
      'Australia/Lord_Howe',
    );
    const seconds = fc.integer({ min: 0, max: 2_000_000_000 });
    fc.assert(
      fc.property(zones, seconds, (zone, second) => {
        const shown = wallTime(second * 1000, zone);
        expect(wallTime(momentAt(shown, zone), zone)).toBe(shown);
      }),
    );
  });

  it('may name a day, such as yesterday or monday 14:00, or a time of today', () => {
    const wednesday = new Date(2026, 6, 1, 12).getTime();
    const local = (...at: [month: number, day: number, hour?: number]) => new Date(2026, ...at).toISOString();
    const taken = (text: string) => parseMoment(text, wednesday);
    expect(['today', 'yesterday', 'Monday', 'wednesday', 'thursday'].map(taken)).toEqual([
      local(6, 1),
      local(5, 30),
      local(5, 29),
      local(6, 1),
      local(5, 25),
    ]);
    expect(['18:00', 'yesterday 14:00', 'monday T09:00', 'mondayT09:00'].map(taken)).toEqual([
      local(6, 1, 18),
      local(5, 30, 14),
      undefined,
      local(5, 29, 9),
    ]);
    expect(taken('12:30:15')).toBe(new Date(2026, 6, 1, 12, 30, 15).toISOString());
  });
});

describe('a time outside the years that RFC 3339 can write', () => {
  const now = Date.UTC(2026, 6, 1);
  const refused = expect.objectContaining({
    failure: expect.objectContaining({ code: 'usage', message: expect.stringContaining('0001 to 9999') }),
  });

  it.each(['999999999d', '800000d', '9999-12-31T23:59-14:00'])(
    '%s is wrong use, wherever it is typed',
    async (text) => {
      expect(() => parseMoment(text, now)).toThrow(refused);
      if (!text.endsWith('d')) expect(() => parseTime(text, now)).toThrow(refused);
    },
  );

  it('is wrong use as the end of a hold, and as the end of an old secret', async () => {
    for (const text of ['999999999d', '9000000d', '9999-12-31T23:59-14:00'])
      await expect(holdEnd().parse(text, {} as never, {} as never), text).rejects.toThrow(refused);
    expect(() => localTimeIn(999_999_999 * 86_400)).toThrow(refused);
  });

  it('begins where its years end', () => {
    expect(isoOf(Date.parse('9999-12-31T23:59:59Z'), '')).toBe('9999-12-31T23:59:59.000Z');
    expect(isoOf(Date.parse('0001-01-01T00:00:00Z'), '')).toBe('0001-01-01T00:00:00.000Z');
  });
});

describe('the zone of this computer', () => {
  const before = process.env['TZ'];
  afterEach(() => {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  });

  it.each(['', 'Nowhere/Nowhere'])('is UTC if TZ is %j', (zone) => {
    process.env['TZ'] = zone;
    expect(parseMoment('yesterday', Date.UTC(2026, 6, 1, 12))).toBe('2026-06-30T00:00:00.000Z');
  });
});
