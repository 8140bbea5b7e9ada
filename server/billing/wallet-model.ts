import type { AuditEntry } from '../platform/audit-entry.ts';
import { hour, minute, secondsUntilRollover, windowStart } from '../platform/windows.ts';

/**
 * The wallet as a pure function: what the update of wallet-pipeline.ts does inside the database, and how
 * its outcome is read. Amounts are signed integers of cents: a charge is negative, funding positive.
 */

/** What one account of the ledger can be moved by. The first three are billable events. */
export const billableKinds = ['token', 'storefront', 'checkbox'] as const;
export type BillableKind = (typeof billableKinds)[number];
export type EntryKind = BillableKind | 'funding' | 'adjustment' | 'refund' | 'reversal';

/** Whether a movement is a charge, which waits for its access; other money has nothing to wait for. */
export function isBillable(kind: EntryKind): kind is BillableKind {
  return (billableKinds as readonly EntryKind[]).includes(kind);
}

/** Why money moved without an access: kept on the ledger entry. */
export interface Memo {
  reference?: string;
  reason?: string;
  actor?: string;
  /** The charge that a refund or a reversal gives back. */
  of?: string;
  /** The operator's act, for the audit log: written down with the money, copied when the entry is posted. */
  audit?: AuditEntry;
}

/** Money that has moved but has no ledger entry yet: the wallet's outbox. */
export interface Hold {
  id: string;
  kind: EntryKind;
  amount: number;
  /** Position in the wallet's ledger, 1, 2, 3 … without gaps. */
  seq: number;
  balanceAfter: number;
  at: Date;
  /** After this the sweeper settles it, or reverses it where no access was committed. */
  deadline: Date;
  memo: Memo | null;
}

/** A request to move money. The same `id` moves it once, however often it is sent. */
export interface Posting {
  id: string;
  kind: EntryKind;
  amount: number;
  /** Whether it counts as one billable event in both spend windows (interface section 8). */
  counted: boolean;
  /** `settled` of the wallet as known before the caller looked for a record of this id. */
  basis: number;
  at: Date;
  deadline: Date;
  memo: Memo | null;
}

export interface SpendWindow {
  start: Date;
  used: number;
}

export interface WalletState {
  balance: number;
  seq: number;
  /** How many ids ever moved from `holds` to `recentlySettled`. */
  settled: number;
  minute: SpendWindow;
  hour: SpendWindow;
  caps: { perMinute: number; perHour: number };
  holds: readonly Hold[];
  /** Number of all holds; `holds` itself may be only those a verdict needs. */
  holdCount: number;
  /** Ids, oldest first. */
  recentlySettled: readonly string[];
}

export type Verdict =
  | { outcome: 'held'; hold: Hold }
  /** Its record was written and settled already: look it up. */
  | { outcome: 'settled' }
  /** So much was settled since the caller looked that the ring may have forgotten this id: look again. */
  | { outcome: 'stale' }
  /** Too many holds wait for settlement. */
  | { outcome: 'full' }
  | { outcome: 'capped'; bucket: 'minute' | 'hour'; limit: number; retryAfter: number }
  | { outcome: 'insufficient' };

export const ringSize = 256;
export const largestHoldCount = 256;
/** The last places are kept for money that comes back: a wallet full of dead charges can drain itself. */
export const largestChargeCount = 240;

/** A window as it stands at `at`: it only ever moves forward, so a slow clock cannot reopen a full one. */
export function windowAt(window: SpendWindow, length: number, at: Date): SpendWindow {
  const start = windowStart(at.getTime(), length);
  return start > window.start.getTime() ? { start: new Date(start), used: 0 } : window;
}

function exceededBucket(state: WalletState, at: Date): Extract<Verdict, { outcome: 'capped' }> | undefined {
  const buckets = [
    { bucket: 'hour', window: windowAt(state.hour, hour, at), limit: state.caps.perHour, length: hour },
    {
      bucket: 'minute',
      window: windowAt(state.minute, minute, at),
      limit: state.caps.perMinute,
      length: minute,
    },
  ] as const;
  const full = buckets.find(({ window, limit }) => window.used >= limit);
  if (!full) return undefined;
  const retryAfter = secondsUntilRollover(full.window.start.getTime(), full.length, at.getTime());
  return { outcome: 'capped', bucket: full.bucket, limit: full.limit, retryAfter };
}

/** What stands in the way of `posting`, in the order of the contract; `admissible` when nothing does. */
export function judge(state: WalletState, posting: Posting): Verdict | { outcome: 'admissible' } {
  const hold = state.holds.find(({ id }) => id === posting.id);
  if (hold) return { outcome: 'held', hold };
  if (state.recentlySettled.includes(posting.id)) return { outcome: 'settled' };
  if (state.settled - posting.basis > ringSize) return { outcome: 'stale' };
  if (state.holdCount >= (posting.counted ? largestChargeCount : largestHoldCount))
    return { outcome: 'full' };
  const capped = posting.counted ? exceededBucket(state, posting.at) : undefined;
  if (capped) return capped;
  if (posting.amount < 0 && state.balance + posting.amount < 0) return { outcome: 'insufficient' };
  return { outcome: 'admissible' };
}

function admit(state: WalletState, posting: Posting): WalletState {
  const { id, kind, amount, at, deadline, memo } = posting;
  const balance = state.balance + amount;
  const seq = state.seq + 1;
  const count = ({ start, used }: SpendWindow): SpendWindow => ({ start, used: used + 1 });
  return {
    ...state,
    balance,
    seq,
    minute: posting.counted ? count(windowAt(state.minute, minute, at)) : state.minute,
    hour: posting.counted ? count(windowAt(state.hour, hour, at)) : state.hour,
    holds: [...state.holds, { id, kind, amount, seq, balanceAfter: balance, at, deadline, memo }],
    holdCount: state.holdCount + 1,
  };
}

/** Moves ids from `holds` to `recentlySettled`; those that are not held are passed over. */
function release(state: WalletState, ids: readonly string[]): WalletState {
  const moved = state.holds.filter(({ id }) => ids.includes(id)).map(({ id }) => id);
  return {
    ...state,
    settled: state.settled + moved.length,
    holds: state.holds.filter(({ id }) => !moved.includes(id)),
    holdCount: state.holdCount - moved.length,
    recentlySettled: [...state.recentlySettled, ...moved].slice(-ringSize),
  };
}

/** What one update does: settled ids leave, then each posting in order is admitted whole or not at all. */
export function applyBatch(
  state: WalletState,
  settled: readonly string[],
  postings: readonly Posting[],
): WalletState {
  return postings.reduce(
    (current, posting) =>
      judge(current, posting).outcome === 'admissible' ? admit(current, posting) : current,
    release(state, settled),
  );
}

/**
 * Reads what became of `posting` off a state that was read after its batch. A refusal is judged against
 * that later state, so it is always true at the time it is told; where nothing stands in the way any more
 * (money arrived, a window turned) the posting should simply be sent again.
 */
export function verdictOf(state: WalletState, posting: Posting): Verdict | { outcome: 'resend' } {
  const verdict = judge(state, posting);
  return verdict.outcome === 'admissible' ? { outcome: 'resend' } : verdict;
}
