import type { BillableKind, EntryKind } from '../../../contracts/charge.ts';
import { hour, minute, secondsUntilRollover, windowStart } from '../../platform/http/limits/windows.ts';

/** The rules of a wallet as pure functions. Amounts are signed integer cents: a charge is negative, a funding is positive. */

/** The minute or hour of the last charge, in which charges are counted against a spend cap. */
export interface SpendWindow {
  start: Date;
  used: number;
}

/** The state of a wallet after a page of its ledger. The balance is in cents, the caps are in billable events. */
export interface WalletState {
  balance: number;
  /** The sequence number of the last entry that has one. */
  seq: number;
  minute: SpendWindow;
  hour: SpendWindow;
  caps: { perMinute: number; perHour: number };
}

/** The part of an entry that changes the state of a wallet. */
export interface Movement {
  kind: EntryKind;
  amount: number;
  /** The caps that an entry of the kind `caps` changes. */
  caps?: Partial<WalletState['caps']> | undefined;
}

export type Refusal =
  | { outcome: 'capped'; bucket: 'minute' | 'hour'; limit: number; retryAfter: number }
  | { outcome: 'insufficient' };

/** The default spend caps, in billable events of one wallet (interface section 8). */
export const defaultCaps = { perMinute: 60, perHour: 1000 };

/** A new wallet is empty and has the default caps. */
export const newWallet: WalletState = {
  balance: 0,
  seq: 0,
  minute: { start: new Date(0), used: 0 },
  hour: { start: new Date(0), used: 0 },
  caps: defaultCaps,
};

type Counting = 'charge' | 'money' | 'note';

/** Returns whether an entry counts in the spend windows (`charge`), only moves money, or moves no money (`note`). */
export function countingOf(kind: EntryKind): Counting {
  switch (kind) {
    case 'token':
    case 'storefront':
    case 'checkbox':
      return 'charge';
    case 'funding':
    case 'adjustment':
    case 'refund':
      return 'money';
    case 'opening':
    case 'caps':
    case 'fence':
      return 'note';
  }
}

/** Whether an entry of this kind is a charge, which grants an access. */
export const isBillable = (kind: EntryKind): kind is BillableKind => countingOf(kind) === 'charge';

/** Returns the spend window at the time `at` (ms). `at` may be before `window`. Then `window` stays, so that its use still counts. */
export function windowAt(window: SpendWindow, length: number, at: number): SpendWindow {
  const start = windowStart(at, length);
  return start > window.start.getTime() ? { start: new Date(start), used: 0 } : window;
}

/** Returns the spend cap that is reached at the time `at` (ms), and its window. If both are, returns the hour's, which ends last. */
export function reachedCap(state: Pick<WalletState, 'minute' | 'hour' | 'caps'>, at: number) {
  const caps = [
    { bucket: 'hour', limit: state.caps.perHour, length: hour },
    { bucket: 'minute', limit: state.caps.perMinute, length: minute },
  ] as const;
  for (const { bucket, limit, length } of caps) {
    const window = windowAt(state[bucket], length, at);
    if (window.used >= limit)
      return { bucket, limit, length, start: window.start.getTime(), used: window.used };
  }
  return undefined;
}

function capRefusal(state: WalletState, at: number): Refusal | undefined {
  const reached = reachedCap(state, at);
  if (!reached) return undefined;
  const { bucket, limit, length, start } = reached;
  return { outcome: 'capped', bucket, limit, retryAfter: secondsUntilRollover(start, length, at) };
}

/** Returns why `movement` may not be written at the time `at` (ms). Caps are checked before the balance (contract). */
export function checkMovement(state: WalletState, movement: Movement, at: number): Refusal | undefined {
  const capped = countingOf(movement.kind) === 'charge' ? capRefusal(state, at) : undefined;
  if (capped) return capped;
  const isOverdrawn = movement.amount < 0 && state.balance + movement.amount < 0;
  return isOverdrawn ? { outcome: 'insufficient' } : undefined;
}

/** Returns the state of the wallet after `movement` at the time `at` (ms). */
export function admit(state: WalletState, movement: Movement, at: number): WalletState {
  const counting = countingOf(movement.kind);
  if (counting === 'note') return { ...state, caps: { ...state.caps, ...movement.caps } };
  const moved = { ...state, balance: state.balance + movement.amount, seq: state.seq + 1 };
  if (counting === 'money') return moved;
  const byMinute = windowAt(state.minute, minute, at);
  const byHour = windowAt(state.hour, hour, at);
  return {
    ...moved,
    minute: { start: byMinute.start, used: byMinute.used + 1 },
    hour: { start: byHour.start, used: byHour.used + 1 },
  };
}
