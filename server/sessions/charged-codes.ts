import type { Charges } from '../billing/charge.ts';
import { entryKeyOf, walletIdOf } from '../billing/ledger/ledger-page.ts';
import type { LedgerStore } from '../billing/ledger/ledger-store.ts';
import type { CodeOfSession } from './session-store.ts';

interface Dependencies {
  charges: Pick<Charges, 'idOf'>;
  ledger: Pick<LedgerStore, 'existing'>;
}

/** Returns a function that finds which of the given codes were exchanged, and returns their hashes. */
export function createChargedCodes({ charges, ledger }: Dependencies) {
  return async (codes: readonly CodeOfSession[]): Promise<Set<string>> => {
    const entries = codes.map(({ partnerId, mode, codeHash }) => ({
      codeHash,
      walletId: walletIdOf(partnerId, mode),
      id: charges.idOf(codeHash),
    }));
    const charged = await ledger.existing(entries);
    return new Set(entries.filter((entry) => charged.has(entryKeyOf(entry))).map(({ codeHash }) => codeHash));
  };
}
