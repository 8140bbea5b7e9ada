import type { Db } from 'mongodb';
import type { LedgerPage } from '../../server/billing/ledger/ledger-page.ts';

interface Expected {
  /** The number of exchanged codes. */
  tokens: number;
  /** Cents: the funding, and the price of a token. */
  funded: number;
  price: number;
}

export function expectEqual(what: string, actual: number, expected: number): void {
  if (actual !== expected) throw new Error(`the ledger is wrong: ${what}: ${actual}, expected ${expected}`);
}

interface WalletSum {
  _id: string;
  pages: number;
  last: number;
  charges: number;
  amount: number;
  state: LedgerPage['state'];
}

/** The sums of each wallet's pages, and the state after its last page. */
const sums = [
  { $sort: { _id: 1 } },
  {
    $group: {
      _id: '$walletId',
      pages: { $sum: 1 },
      last: { $max: '$n' },
      amount: { $sum: { $sum: '$entries.amount' } },
      charges: {
        $sum: { $size: { $filter: { input: '$entries', cond: { $eq: ['$$this.kind', 'token'] } } } },
      },
      state: { $last: '$state' },
    },
  },
];

/** Checks that tokens are charged, chains have no gaps, and every balance is the sum of its entries. */
export async function checkLedgers(db: Db, { tokens, funded, price }: Expected): Promise<void> {
  const wallets = await db
    .collection('ledger')
    .aggregate<WalletSum>(sums, { allowDiskUse: true, maxTimeMS: 120_000 })
    .toArray();
  for (const { _id, pages, last, amount, state } of wallets) {
    expectEqual(`pages of ${_id}`, pages, last + 1);
    expectEqual(`balance of ${_id}`, state.balance, amount);
  }
  const total = (of: (wallet: WalletSum) => number) => wallets.reduce((sum, wallet) => sum + of(wallet), 0);
  expectEqual(
    'charges',
    total(({ charges }) => charges),
    tokens,
  );
  expectEqual(
    'all balances',
    total(({ state }) => state.balance),
    funded - tokens * price,
  );
}
