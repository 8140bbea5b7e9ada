import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applyBatch,
  judge,
  largestChargeCount,
  largestHoldCount,
  type Posting,
  ringSize,
  verdictOf,
  type WalletState,
  windowAt,
} from '../../server/billing/wallet-model.ts';

const noon = Date.parse('2026-11-21T12:00:00Z');
const minute = 60_000;
const hour = 60 * minute;
const at = (ms: number) => new Date(noon + ms);

function wallet(changed: Partial<WalletState> = {}): WalletState {
  const state: WalletState = {
    balance: 1_000_000,
    seq: 0,
    settled: 0,
    minute: { start: at(0), used: 0 },
    hour: { start: at(0), used: 0 },
    caps: { perMinute: 100_000, perHour: 100_000 },
    holds: [],
    holdCount: 0,
    recentlySettled: [],
  };
  return { ...state, ...changed };
}

function charge(id: string, changed: Partial<Posting> = {}): Posting {
  return {
    id,
    kind: 'token',
    amount: -50,
    counted: true,
    basis: 0,
    at: at(1_000),
    deadline: at(11_000),
    memo: null,
    ...changed,
  };
}

const refund = (id: string): Posting => charge(id, { kind: 'reversal', amount: 50, counted: false });
const ids = (count: number, prefix = 'txn') => Array.from({ length: count }, (_, n) => `${prefix}_${n}`);

describe('fullness', () => {
  const holding = (count: number) => applyBatch(wallet(), [], ids(count, 'rev').map(refund));

  it('keeps 16 of 256 places for money that comes back', () => {
    expect([largestChargeCount, largestHoldCount]).toEqual([240, 256]);
    expect(judge(holding(239), charge('txn_x'))).toEqual({ outcome: 'admissible' });
    expect(judge(holding(240), charge('txn_x'))).toEqual({ outcome: 'full' });
    expect(judge(holding(255), refund('rev_x'))).toEqual({ outcome: 'admissible' });
    expect(judge(holding(256), refund('rev_x'))).toEqual({ outcome: 'full' });
  });

  it('admits of one batch only as many as there are places', () => {
    const state = applyBatch(
      wallet(),
      [],
      ids(300).map((id) => charge(id)),
    );
    expect([state.holdCount, state.seq, state.balance]).toEqual([240, 240, 1_000_000 - 240 * 50]);
    const drained = applyBatch(state, [], ids(300, 'rev').map(refund));
    expect([drained.holdCount, drained.seq]).toEqual([256, 256]);
  });

  it('ends as ids leave', () => {
    const full = holding(240);
    const state = applyBatch(full, ['rev_0'], [charge('txn_x')]);
    expect(verdictOf(state, charge('txn_x')).outcome).toBe('held');
  });

  it('comes before caps and balance, and after what is already held', () => {
    const poor = { ...holding(240), balance: 0, caps: { perMinute: 0, perHour: 0 } };
    expect(judge(poor, charge('txn_x'))).toEqual({ outcome: 'full' });
    expect(judge(poor, { ...charge('rev_3') }).outcome).toBe('held');
  });
});

describe('the ring of settled ids', () => {
  const settledAll = (count: number) => {
    let state = wallet();
    for (const id of ids(count)) {
      state = applyBatch(applyBatch(state, [], [charge(id, { basis: state.settled })]), [id], []);
    }
    return state;
  };

  it('remembers the last 256, oldest first', () => {
    const state = settledAll(300);
    expect(ringSize).toBe(256);
    expect([state.settled, state.holdCount, state.recentlySettled.length]).toEqual([300, 0, 256]);
    expect([state.recentlySettled[0], state.recentlySettled.at(-1)]).toEqual(['txn_44', 'txn_299']);
  });

  it('never debits a settled id again: found in the ring, or stale', () => {
    const state = settledAll(300);
    for (const id of ids(300)) {
      const verdict = judge(state, charge(id, { basis: 0 })).outcome;
      expect(verdict).toBe(Number(id.slice(4)) < 44 ? 'stale' : 'settled');
    }
    expect(
      applyBatch(
        state,
        [],
        ids(300).map((id) => charge(id)),
      ),
    ).toEqual(state);
  });

  it('takes a basis that is 256 settlements old, and none that is older', () => {
    const state = wallet({ settled: 1_000 });
    expect(judge(state, charge('txn_x', { basis: 744 }))).toEqual({ outcome: 'admissible' });
    expect(judge(state, charge('txn_x', { basis: 743 }))).toEqual({ outcome: 'stale' });
  });

  it('passes over ids that are not held, and counts none twice', () => {
    const held = applyBatch(wallet(), [], [charge('txn_a')]);
    const once = applyBatch(held, ['txn_a', 'txn_a', 'txn_b'], []);
    expect([once.settled, once.recentlySettled]).toEqual([1, ['txn_a']]);
    expect(applyBatch(once, ['txn_a'], [])).toMatchObject({ settled: 1, recentlySettled: ['txn_a'] });
  });
});

describe('windows', () => {
  it('begin on wall-clock minutes and hours', () => {
    const window = { start: at(0), used: 7 };
    expect(windowAt(window, minute, at(59_999))).toBe(window);
    expect(windowAt(window, minute, at(60_000))).toEqual({ start: at(60_000), used: 0 });
    expect(windowAt(window, hour, at(3_599_999))).toBe(window);
    expect(windowAt(window, hour, at(7_300_000))).toEqual({ start: at(7_200_000), used: 0 });
  });

  it('only move forward, so that a slow clock does not reopen a full one', () => {
    const time = fc.integer({ min: -2 * hour, max: 2 * hour });
    fc.assert(
      fc.property(fc.array(time, { minLength: 1, maxLength: 40 }), (times) => {
        const caps = { perMinute: 3, perHour: 5 };
        let state = wallet({ caps });
        const admitted = new Map<number, number>();
        for (const [n, ms] of times.entries()) {
          const next = applyBatch(state, [], [charge(`txn_${n}`, { at: at(ms) })]);
          expect(next.minute.start.getTime()).toBeGreaterThanOrEqual(state.minute.start.getTime());
          expect(next.hour.start.getTime()).toBeGreaterThanOrEqual(state.hour.start.getTime());
          if (next.seq > state.seq) {
            for (const { start } of [next.minute, next.hour]) {
              const key = start.getTime() + (start === next.hour.start ? 0.5 : 0);
              admitted.set(key, (admitted.get(key) ?? 0) + 1);
            }
          }
          state = next;
        }
        for (const [key, count] of admitted) {
          expect(count).toBeLessThanOrEqual(Number.isInteger(key) ? caps.perMinute : caps.perHour);
        }
      }),
    );
  });

  it('name the hour where both are full, and the time until it rolls over', () => {
    const state = wallet({
      minute: { start: at(0), used: 1 },
      hour: { start: at(0), used: 1 },
      caps: { perMinute: 1, perHour: 1 },
    });
    const posting = charge('txn_x', { at: at(10_001) });
    expect(judge(state, posting)).toEqual({ outcome: 'capped', bucket: 'hour', limit: 1, retryAfter: 3_590 });
    expect(judge({ ...state, caps: { perMinute: 1, perHour: 2 } }, posting)).toEqual({
      outcome: 'capped',
      bucket: 'minute',
      limit: 1,
      retryAfter: 50,
    });
  });

  it('do not count money that comes back, nor stand in its way', () => {
    const state = applyBatch(wallet({ caps: { perMinute: 0, perHour: 0 } }), [], [refund('rev_1')]);
    expect([state.seq, state.minute.used, state.hour.used]).toEqual([1, 0, 0]);
  });

  it('begin with a posting that is refused for its balance only when it is admitted', () => {
    const state = wallet({ balance: 10 });
    expect(applyBatch(state, [], [charge('txn_x', { at: at(2 * hour) })])).toEqual(state);
  });
});

describe('the balance', () => {
  it('is never below zero, and each posting is admitted whole or not at all', () => {
    const amounts = fc.array(fc.integer({ min: -200, max: 100 }), { maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 500 }), amounts, (balance, moves) => {
        const postings = moves.map((amount, n) => charge(`txn_${n}`, { amount }));
        const state = applyBatch(wallet({ balance }), [], postings);
        expect(state.balance).toBeGreaterThanOrEqual(0);
        let expected = balance;
        for (const [n, hold] of state.holds.entries()) {
          expected += hold.amount;
          expect([hold.seq, hold.balanceAfter]).toEqual([n + 1, expected]);
        }
        expect(state.balance).toBe(expected);
      }),
    );
  });

  it('may be spent to the last cent', () => {
    const state = wallet({ balance: 50 });
    expect(judge(state, charge('txn_x'))).toEqual({ outcome: 'admissible' });
    expect(judge(state, charge('txn_x', { amount: -51 }))).toEqual({ outcome: 'insufficient' });
  });
});

describe('a verdict read afterwards', () => {
  it('says "send again" where nothing stands in the way any more', () => {
    expect(verdictOf(wallet(), charge('txn_x'))).toEqual({ outcome: 'resend' });
  });

  it('is "held" for the first, whoever repeats it', () => {
    const state = applyBatch(wallet(), [], [charge('txn_x'), charge('txn_x', { amount: -999 })]);
    expect(state.balance).toBe(1_000_000 - 50);
    expect(verdictOf(state, charge('txn_x'))).toMatchObject({ outcome: 'held', hold: { amount: -50 } });
  });
});
