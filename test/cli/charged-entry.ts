import { onTestFinished } from 'vitest';
import type { Mode } from '../../contracts/identifiers.ts';
import { createLedgerStore } from '../../server/billing/ledger-store.ts';
import { randomId } from '../../server/platform/ids.ts';
import type { AdminServer } from '../admin/admin-server.ts';

/**
 * A charge of 0.50 USD as the only entry of a new wallet, which it left empty. No access stands behind it, so the
 * wallet goes when the test ends. @returns its id
 */
export async function chargedEntry(
  { database }: AdminServer,
  partnerId: string,
  mode: Mode,
): Promise<string> {
  const id = randomId('entry');
  const walletId = `${partnerId}:${mode}`;
  const charge = { kind: 'token' as const, amount: -50, balanceAfter: 0, seq: 1 };
  const legs = [
    { account: `wallet:${walletId}`, amount: -50 },
    { account: 'revenue', amount: 50 },
  ];
  await createLedgerStore(database.db).append([
    { _id: id, walletId, ...charge, at: new Date(), legs, memo: null },
  ]);
  const wallets = database.db.collection<{ _id: string }>('wallets');
  await wallets.updateOne({ _id: walletId }, { $set: { seq: 1 } });
  onTestFinished(async () => {
    await database.db.collection('ledger').deleteMany({ walletId });
    await wallets.deleteOne({ _id: walletId });
  });
  return id;
}
