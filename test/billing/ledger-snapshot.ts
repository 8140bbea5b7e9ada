import type { Db } from 'mongodb';
import { expect } from 'vitest';
import type { LedgerEntry, LedgerPage } from '../../server/billing/ledger/ledger-page.ts';

/** All ledger data of one wallet. */
export interface LedgerSnapshot {
  /** In the order of `n`. */
  pages: LedgerPage[];
  /** Entries that move money, in the order of `seq`. */
  entries: LedgerEntry[];
  charges: LedgerEntry[];
  refunds: LedgerEntry[];
  /** The state after the last page. */
  state: LedgerPage['state'];
}

const billable = ['token', 'storefront', 'checkbox'];

export async function readLedger(db: Db, walletId: string): Promise<LedgerSnapshot> {
  const pages = await db.collection<LedgerPage>('ledger').find({ walletId }).sort({ _id: 1 }).toArray();
  const last = pages.at(-1);
  if (!last) throw new Error(`no wallet ${walletId}`);
  const entries = pages.flatMap((page) => page.entries).filter(({ seq }) => seq !== undefined);
  return {
    pages,
    entries,
    charges: entries.filter(({ kind }) => billable.includes(kind)),
    refunds: entries.filter(({ kind }) => kind === 'refund'),
    state: last.state,
  };
}

/** Asserts the rules that every ledger keeps, without using the code of the product. */
export function expectSound({ pages, entries, charges, state }: LedgerSnapshot): void {
  expect(pages.map(({ n }) => n)).toEqual(pages.map((_, n) => n));
  expect(pages.map(({ previous }) => previous)).toEqual([
    '',
    ...pages.slice(0, -1).map(({ digest }) => digest),
  ]);
  const times = pages.map(({ at }) => at.getTime());
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  for (const page of pages) expect(page.entries.length).toBeGreaterThan(0);

  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, n) => n + 1));
  let balance = 0;
  for (const { amount, balanceAfter } of entries) {
    balance += amount;
    expect(balanceAfter).toBe(balance);
    expect(balance).toBeGreaterThanOrEqual(0);
  }
  expect([state.balance, state.seq]).toEqual([balance, entries.length]);
  const ids = pages.flatMap((page) => page.entries).map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  // A grant may have been erased, but its seal stays.
  for (const { grantSeal } of charges) expect(grantSeal).toEqual(expect.any(String));
}

/** Reads a ledger, and asserts that it keeps the rules of `expectSound`. */
export async function soundLedger(db: Db, walletId: string): Promise<LedgerSnapshot> {
  const ledger = await readLedger(db, walletId);
  expectSound(ledger);
  return ledger;
}
