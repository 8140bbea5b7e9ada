import type { Db } from 'mongodb';
import { expect } from 'vitest';
import type { AccessRecord } from '../../server/billing/access-store.ts';
import type { LedgerEntry } from '../../server/billing/ledger.ts';
import { isBillable } from '../../server/billing/wallet-model.ts';
import { createWalletStore, type Wallet } from '../../server/billing/wallet-store.ts';

/** Everything that is written about one wallet's money. */
export interface Books {
  wallet: Wallet;
  /** In the order of `seq`. */
  rows: LedgerEntry[];
  records: AccessRecord[];
  charges: LedgerEntry[];
  reversals: LedgerEntry[];
}

export async function readBooks(db: Db, walletId: string): Promise<Books> {
  const wallet = await createWalletStore(db).find(walletId);
  if (!wallet) throw new Error(`no wallet ${walletId}`);
  const rows = await db.collection<LedgerEntry>('ledger').find({ walletId }).sort({ seq: 1 }).toArray();
  const records = await db.collection<AccessRecord>('accesses').find({ walletId }).toArray();
  return {
    wallet,
    rows,
    records,
    charges: rows.filter(({ kind }) => isBillable(kind)),
    reversals: rows.filter(({ kind }) => kind === 'reversal'),
  };
}

const sum = (rows: readonly LedgerEntry[]) => rows.reduce((total, { amount }) => total + amount, 0);

/** Whether everything that has moved is written down; ids may still be waiting to leave the wallet. */
const isWritten = ({ wallet, rows }: Books): boolean => rows.length === wallet.seq;

/** What is true of the books once everything that has moved is written down. */
export function expectSound({ wallet, rows, records, charges, reversals }: Books): void {
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, n) => n + 1));
  expect(wallet.seq).toBe(rows.length);
  expect(wallet.settled).toBe(rows.length - wallet.holds.length);
  rows.forEach(({ amount, balanceAfter, legs }, n) => {
    expect(balanceAfter).toBe((rows[n - 1]?.balanceAfter ?? 0) + amount);
    expect(legs.reduce((total, leg) => total + leg.amount, 0)).toBe(0);
  });
  expect(wallet.balance).toBe(sum(rows));
  expect(wallet.balance).toBe(rows.at(-1)?.balanceAfter ?? 0);

  // Each charge granted an access, or was reversed: never both, never neither.
  const live = records.filter(({ state }) => state === 'live').map(({ _id }) => _id);
  const reversed = reversals.map(({ memo }) => memo?.of ?? '');
  expect([...live, ...reversed].toSorted()).toEqual(charges.map(({ _id }) => _id).toSorted());
}

/** The books once everything is written down; they are then in order. */
export async function soundBooks(db: Db, walletId: string, timeout = 10_000): Promise<Books> {
  const isDone = async () => isWritten(await readBooks(db, walletId));
  await expect.poll(isDone, { timeout, interval: 20 }).toBe(true);
  const books = await readBooks(db, walletId);
  expectSound(books);
  return books;
}
