import type { Db } from 'mongodb';
import { largestPage } from '../../../server/billing/ledger/ledger-page.ts';
import { createLedgerStore } from '../../../server/billing/ledger/ledger-store.ts';
import { draftPage } from '../../../server/billing/ledger/page-builder.ts';
import { randomId } from '../../../server/platform/ids.ts';

/** Adds full pages to a wallet. Each entry adds one cent. */
export async function addFullPages(
  db: Db,
  walletId: string,
  { pages, at }: { pages: number; at: number },
): Promise<void> {
  const store = createLedgerStore(db);
  for (let n = 0; n < pages; n += 1) {
    const last = await store.head(walletId);
    if (!last) throw new Error(`no wallet ${walletId}`);
    const postings = Array.from({ length: largestPage }, () => ({
      ...{ walletId, id: randomId('entry'), kind: 'adjustment' as const, amount: 1 },
    }));
    const { page } = draftPage({ ...last, asOf: 0 }, postings, at + n);
    await store.insert([page]);
  }
}
