import type { AccessStore } from '../../server/billing/access-store.ts';
import type { LedgerStore } from '../../server/billing/ledger-store.ts';
import type { Moved } from '../../server/billing/movements.ts';
import type { WalletPort } from '../../server/billing/wallet.ts';
import type { Posting } from '../../server/billing/wallet-model.ts';

/** Each guard of the protocol, and what is done in its place when the simulation takes it away. */
export const guards = {
  ring: 'no id is found in `recentlySettled`',
  basis: 'a posting is never stale',
  settled: '`seq` is counted in place of `settled`',
  attempt: "another request's access is taken for one's own",
  tombstone: 'the sweeper looks for an access in place of inserting a tombstone',
  window: 'a window is reset whenever a posting belongs to another one',
  'basis before history': 'the basis of a charge is taken after the history was read',
  'basis before look-up': 'the basis of a movement is taken after the ledger was read',
  'entry before release': 'an id may leave the wallet before its ledger entry is written',
  'reversal before release': 'a void charge may leave the wallet before its reversal is written',
  'kept for holds': 'a record may be purged while a hold waits for its settlement',
  'one reversal': 'a refund and a reversal of one charge have different ids',
} as const;
export type Guard = keyof typeof guards;

type Moves = Pick<WalletPort, 'basis' | 'post'>;
type Reverse = (walletId: string, charge: { id: string; amount: number }) => Promise<Moved>;

/** `wallet` with the posting changed on its way. */
function posting(wallet: Moves, change: (walletId: string, posted: Posting) => Promise<Posting>): Moves {
  return {
    basis: wallet.basis,
    post: async (walletId, posted, until) => wallet.post(walletId, await change(walletId, posted), until),
  };
}

const neverStale = (wallet: Moves) =>
  posting(wallet, async (_, posted) => ({ ...posted, basis: Number.POSITIVE_INFINITY }));

const lateBasis = (wallet: Moves) =>
  posting(wallet, async (walletId, posted) => ({ ...posted, basis: await wallet.basis(walletId) }));

const refundId = (id: string) => `refund_${id}`;

/** What one process works with, short of one guard. Without `removed`, everything is passed on as it is. */
export function createGuardedPorts(
  removed: Guard | undefined,
  { accesses, ledger }: { accesses: AccessStore; ledger: LedgerStore },
) {
  function forPurchases(wallet: Moves): Moves {
    if (removed === 'basis') return neverStale(wallet);
    return removed === 'basis before history' ? lateBasis(wallet) : wallet;
  }

  function forMovements(wallet: Moves): Moves {
    if (removed === 'basis') return neverStale(wallet);
    return removed === 'basis before look-up' ? lateBasis(wallet) : wallet;
  }

  /** The operator's refunds, beside the sweeper's reversals. */
  function forRefunds(wallet: Moves): { wallet: Moves; ledger: Pick<LedgerStore, 'find'> } {
    if (removed !== 'one reversal') return { wallet: forMovements(wallet), ledger };
    return {
      wallet: posting(wallet, async (_, posted) =>
        posted.kind === 'refund' ? { ...posted, id: refundId(posted.id) } : posted,
      ),
      ledger: { find: (id) => ledger.find(id.startsWith('rev_') ? refundId(id) : id) },
    };
  }

  const commit: Pick<AccessStore, 'loadMany' | 'insert'> = {
    loadMany: accesses.loadMany,
    async insert(record) {
      const standing = await accesses.insert(record);
      const taken = removed === 'attempt' && standing.state === 'live' && record.state === 'live';
      return taken ? { ...standing, attempt: record.attempt } : standing;
    },
  };

  const sweep: Pick<AccessStore, 'keep' | 'purge' | 'insert'> = {
    keep: async (ids, now) => {
      if (removed !== 'kept for holds') await accesses.keep(ids, now);
    },
    purge: accesses.purge,
    insert: async (record) =>
      removed === 'tombstone' && record.state === 'void'
        ? ((await accesses.find(record._id)) ?? record)
        : accesses.insert(record),
  };

  const entries: Pick<LedgerStore, 'append'> = {
    async append(rows) {
      const written = ledger.append(rows);
      if (removed === 'entry before release') void written.catch(() => undefined);
      else await written;
    },
  };

  function reversal(reverse: Reverse): Reverse {
    if (removed !== 'reversal before release') return reverse;
    return async (walletId, charge) => {
      void reverse(walletId, charge).catch(() => undefined);
      return { repeated: true } as Moved;
    };
  }

  return { forPurchases, forMovements, forRefunds, commit, sweep, entries, reversal };
}
