import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EntryKind } from '../../contracts/charge.ts';
import {
  admit,
  checkMovement,
  isBillable,
  type Movement,
  newWallet,
  type WalletState,
  windowAt,
} from '../../server/billing/ledger/wallet-rules.ts';

const noon = Date.UTC(2026, 0, 5, 12);
const charge = (amount = -50): Movement => ({ kind: 'token', amount });
const wallet = (change: Partial<WalletState> = {}): WalletState => ({
  ...newWallet,
  balance: 10_000,
  ...change,
});
const used = (start: number, count: number) => ({ start: new Date(start), used: count });

describe('checkMovement', () => {
  it('admits a charge if the balance stays at zero or above', () => {
    expect(checkMovement(wallet({ balance: 50 }), charge(), noon)).toBeUndefined();
    expect(checkMovement(wallet({ balance: 49 }), charge(), noon)).toEqual({ outcome: 'insufficient' });
    expect(checkMovement(wallet({ balance: 49 }), { kind: 'adjustment', amount: -50 }, noon)).toEqual({
      outcome: 'insufficient',
    });
  });

  it('admits a charge of zero in an empty wallet', () => {
    expect(checkMovement(wallet({ balance: 0 }), charge(0), noon)).toBeUndefined();
  });

  it('admits the 60th charge under a cap of 60 a minute; the 61st is capped until the minute ends', () => {
    expect(checkMovement(wallet({ minute: used(noon, 59) }), charge(), noon + 1)).toBeUndefined();
    const full = wallet({ minute: used(noon, 60) });
    expect(checkMovement(full, charge(), noon + 18_500)).toEqual({
      outcome: 'capped',
      bucket: 'minute',
      limit: 60,
      retryAfter: 42,
    });
    expect(checkMovement(full, charge(), noon + 59_999)).toMatchObject({ retryAfter: 1 });
    expect(checkMovement(full, charge(), noon + 60_000)).toBeUndefined();
  });

  it('reports the hour cap if both windows are full, even if the balance is too low as well', () => {
    const full = wallet({ balance: 0, minute: used(noon, 60), hour: used(noon, 1_000) });
    expect(checkMovement(full, charge(), noon)).toMatchObject({
      bucket: 'hour',
      limit: 1_000,
      retryAfter: 3_600,
    });
  });

  it('admits entries that add money even if the spend cap is reached', () => {
    const full = wallet({ minute: used(noon, 60) });
    for (const kind of ['funding', 'adjustment', 'refund'] as const) {
      expect(checkMovement(full, { kind, amount: 50 }, noon)).toBeUndefined();
    }
  });

  it('still reports a charge as capped if the clock goes back to an earlier minute', () => {
    expect(checkMovement(wallet({ minute: used(noon, 60) }), charge(), noon - 120_000)).toMatchObject({
      outcome: 'capped',
    });
  });
});

const kinds: EntryKind[] = [
  'token',
  'storefront',
  'checkbox',
  'funding',
  'adjustment',
  'refund',
  'caps',
  'fence',
];
const movement = fc.record({
  kind: fc.constantFrom(...kinds),
  cents: fc.integer({ min: 0, max: 20_000 }),
  down: fc.boolean(),
  cap: fc.integer({ min: 0, max: 5 }),
  later: fc.integer({ min: 0, max: 40_000 }),
});

const toMovement = ({
  kind,
  cents,
  down,
  cap,
}: {
  kind: EntryKind;
  cents: number;
  down: boolean;
  cap: number;
}): Movement => {
  if (kind === 'caps') return { kind, amount: 0, caps: { perMinute: cap } };
  if (kind === 'fence') return { kind, amount: 0 };
  return { kind, amount: isBillable(kind) || (kind === 'adjustment' && down) ? -cents : cents };
};

describe('checkMovement and admit, over any sequence of entries', () => {
  it('keep the balance equal to the sum of entries and never negative, and never exceed a spend cap', () => {
    fc.assert(
      fc.property(fc.array(movement, { maxLength: 60 }), (steps) => {
        let state: WalletState = { ...newWallet, caps: { perMinute: 3, perHour: 5 } };
        let at = noon;
        const admitted: { at: number; movement: Movement; cap: number }[] = [];
        for (const step of steps) {
          at += step.later;
          const next = toMovement(step);
          if (checkMovement(state, next, at)) continue;
          state = admit(state, next, at);
          admitted.push({ at, movement: next, cap: state.caps.perMinute });
        }
        const moves = admitted.filter(({ movement: { kind } }) => kind !== 'caps' && kind !== 'fence');
        expect(state.balance).toBe(moves.reduce((sum, { movement: { amount } }) => sum + amount, 0));
        expect(state.balance).toBeGreaterThanOrEqual(0);
        expect(state.seq).toBe(moves.length);
        const charges = moves.filter(({ movement: { kind } }) => isBillable(kind));
        for (const [length, most] of [
          [60_000, undefined],
          [3_600_000, 5],
        ] as const) {
          const windows = new Map<number, { count: number; cap: number }>();
          for (const each of charges) {
            const start = Math.floor(each.at / length);
            const window = windows.get(start) ?? { count: 0, cap: 0 };
            windows.set(start, { count: window.count + 1, cap: most ?? Math.max(window.cap, each.cap) });
          }
          // A lowered cap applies from then on, so the highest cap during the window is the bound.
          for (const { count, cap } of windows.values()) expect(count).toBeLessThanOrEqual(cap);
        }
      }),
    );
  });

  it.each(['funding', 'adjustment', 'refund'] as const)(
    'count a %s in neither the minute window nor the hour window of the spend caps',
    (kind) => {
      const before = wallet({ minute: used(noon, 3), hour: used(noon, 5) });
      const { minute, hour, balance } = admit(before, { kind, amount: 50 }, noon + 1);
      expect([minute, hour, balance]).toEqual([before.minute, before.hour, before.balance + 50]);
    },
  );

  it('count in the minute window and the hour window exactly the charges made since that window began', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 90_000 }), { maxLength: 40 }), (waits) => {
        let state = wallet({ balance: 1_000_000 });
        let at = noon;
        const times: number[] = [];
        for (const wait of waits) {
          at += wait;
          state = admit(state, charge(), at);
          times.push(at);
        }
        const inThis = (length: number) =>
          times.filter((time) => Math.floor(time / length) === Math.floor(at / length)).length;
        expect(windowAt(state.minute, 60_000, at).used).toBe(inThis(60_000));
        expect(windowAt(state.hour, 3_600_000, at).used).toBe(inThis(3_600_000));
      }),
    );
  });
});
