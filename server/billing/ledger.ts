import type { EntryKind, Hold, Memo } from './wallet-model.ts';

/** One movement of money. Append-only; per wallet `seq` runs 1, 2, 3 … and each balance follows from the one before. */
export interface LedgerEntry {
  _id: string;
  walletId: string;
  seq: number;
  kind: EntryKind;
  /** Signed cents, as the wallet sees it. */
  amount: number;
  balanceAfter: number;
  at: Date;
  /** Double entry: the legs of an entry add up to zero. */
  legs: readonly { account: string; amount: number }[];
  memo: Memo | null;
}

export const walletAccount = (walletId: string) => `wallet:${walletId}`;

/** The account on the other side of the wallet. */
export function counterAccount(kind: EntryKind): string {
  switch (kind) {
    case 'token':
    case 'storefront':
    case 'checkbox':
    case 'refund':
    case 'reversal':
      return 'revenue';
    case 'funding':
      return 'funding';
    case 'adjustment':
      return 'adjustments';
  }
}

/** `-amount` without a negative zero, which would not be stored as an integer. */
export const opposite = (amount: number) => (amount === 0 ? 0 : -amount);

/** The entry that a hold owes to the ledger: everything in it was decided when the money moved. */
export function entryOf(walletId: string, hold: Hold): LedgerEntry {
  const { id, kind, amount, seq, balanceAfter, at, memo } = hold;
  const legs = [
    { account: walletAccount(walletId), amount },
    { account: counterAccount(kind), amount: opposite(amount) },
  ];
  return { _id: id, walletId, seq, kind, amount, balanceAfter, at, legs, memo };
}

/** Refund and reversal of a charge share this id, so that only one of them can ever be. */
export const reversalIdOf = (chargeId: string) => `rev_${chargeId}`;
