import type { Db } from 'mongodb';
import type { LedgerEntry } from '../../server/billing/ledger.ts';
import type { Wallet } from '../../server/billing/wallet-store.ts';
import { pause } from '../processes.ts';

interface Expected {
  /** Codes that were redeemed so far. */
  tokens: number;
  /** Cents: paid in, and the price of a token. */
  funded: number;
  price: number;
}

type StoredWallet = Omit<Wallet, 'id'> & { _id: string };

/** Longest wait for settlement, which follows the answers, in milliseconds. */
const patience = 20_000;

export function expectEqual(what: string, actual: number, expected: number): void {
  if (actual !== expected) throw new Error(`the books are wrong: ${what}: ${actual}, expected ${expected}`);
}

async function waitForSettlement(db: Db): Promise<void> {
  for (const deadline = Date.now() + patience; ; await pause(50)) {
    const waiting = await db.collection('wallets').countDocuments({ 'holds.0': { $exists: true } });
    if (waiting === 0) return;
    if (Date.now() > deadline) throw new Error(`${waiting} wallets have open holds after ${patience} ms`);
  }
}

/** Tokens are charges are ledger rows, and every balance is what its ledger adds up to; after settlement. */
export async function checkBooks(db: Db, { tokens, funded, price }: Expected): Promise<void> {
  await waitForSettlement(db);
  const ledger = db.collection<LedgerEntry>('ledger');
  expectEqual('accesses', await db.collection('accesses').countDocuments({ state: 'live' }), tokens);
  expectEqual('charges', await ledger.countDocuments({ kind: 'token' }), tokens);

  const sums = await ledger
    .aggregate<{ _id: string; rows: number; amount: number; last: number }>([
      {
        $group: { _id: '$walletId', rows: { $sum: 1 }, amount: { $sum: '$amount' }, last: { $max: '$seq' } },
      },
    ])
    .toArray();
  const wallets = await db
    .collection<StoredWallet>('wallets')
    .find({ seq: { $gt: 0 } })
    .toArray();
  const sumOf = new Map(sums.map((sum) => [sum._id, sum]));
  for (const { _id, balance, seq } of wallets) {
    const sum = sumOf.get(_id);
    expectEqual(`balance of ${_id}`, balance, sum?.amount ?? 0);
    expectEqual(`ledger rows of ${_id}`, sum?.rows ?? 0, seq);
    expectEqual(`last ledger row of ${_id}`, sum?.last ?? 0, seq);
  }
  const total = wallets.reduce((sum, { balance }) => sum + balance, 0);
  expectEqual('all balances', total, funded - tokens * price);
}
