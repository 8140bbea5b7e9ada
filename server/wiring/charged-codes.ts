import type { Charges } from '../billing/charge.ts';
import { walletIdOf } from '../billing/ledger-page.ts';
import type { LedgerStore } from '../billing/ledger-store.ts';
import type { CodeOfSession } from '../verification/session/session-store.ts';

interface Dependencies {
  charges: Pick<Charges, 'idOf'>;
  /** Concurrent calls share one read. */
  findEntry: LedgerStore['findEntry'];
}

/** Returns a function that finds which of the given codes were exchanged, and returns their hashes. */
export function createChargedCodes({ charges, findEntry }: Dependencies) {
  return async (codes: readonly CodeOfSession[]): Promise<Set<string>> => {
    const entries = await Promise.all(
      codes.map(({ partnerId, mode, codeHash }) =>
        findEntry({ walletId: walletIdOf(partnerId, mode), id: charges.idOf(codeHash) }),
      ),
    );
    return new Set(
      codes.filter((_code, index) => entries[index] !== undefined).map(({ codeHash }) => codeHash),
    );
  };
}
