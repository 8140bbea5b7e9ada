import { entryKeyOf, type LedgerPage, pageIdOf } from '../../../server/billing/ledger/ledger-page.ts';
import type { LedgerStore } from '../../../server/billing/ledger/ledger-store.ts';
import type { RevocationStore } from '../../../server/billing/revocation-store.ts';
import type { SimulatedDatabase } from './database.ts';
import type { Network } from './network.ts';
import type { Actor } from './schedule.ts';

/** The reads and writes of the money core on the `ledger` collection. */
export type Ledger = Pick<
  LedgerStore,
  | 'insert'
  | 'head'
  | 'page'
  | 'existing'
  | 'findEntry'
  | 'findDurableEntry'
  | 'findAnywhere'
  | 'walletIds'
  | 'unpublished'
  | 'markPublished'
>;

/** The id of a fence is random, so the trace must not contain it. */
const nameOf = ({ id }: { id: string }) => (id.startsWith('fence_') ? 'fence' : id.slice(0, 10));

const describe = ({ _id, entries }: LedgerPage) => {
  const shown = entries.slice(0, 4).map(nameOf);
  return `${_id.replace(/\/0*/, '/')} [${shown.join(' ')}${entries.length > 4 ? ` +${entries.length - 4}` : ''}]`;
};

/** Creates the stores of one process, with the interface of `LedgerStore` and `RevocationStore`. */
export function connect(
  caller: Actor,
  {
    network,
    database,
    onSend,
  }: {
    network: Network;
    database: SimulatedDatabase;
    /** Called with the pages of each insert before it is sent. */
    onSend: (pages: readonly LedgerPage[]) => void;
  },
): { ledger: Ledger; revocations: Pick<RevocationStore, 'has' | 'add'> } {
  const read = <T>(name: () => string, run: () => T) => network.call(caller, name, { run });

  return {
    ledger: {
      insert(pages) {
        onSend(pages);
        return network.call(caller, () => `insert ${pages.map(describe).join(', ')}`, {
          run: (limit) => database.insert(pages.slice(0, limit)),
          size: pages.length,
          write: true,
        });
      },
      // On a standalone server, the product reads a head by an update without effect, which waits for the journal.
      head: (walletId) =>
        network.call(caller, () => `head of ${walletId}`, {
          run: () => database.head(walletId),
          write: database.hasDurableHeads,
        }),
      page: (walletId, n) =>
        read(
          () => `page ${walletId}/${n}`,
          () => database.page(pageIdOf(walletId, n)),
        ),
      existing: (keys) =>
        read(
          () => `existing ${keys.map(nameOf).join(' ')}`,
          () => new Set(keys.filter(({ walletId, id }) => database.entry(walletId, id)).map(entryKeyOf)),
        ),
      findEntry: ({ walletId, id }) =>
        read(
          () => `entry ${id.slice(0, 10)}`,
          () => database.entry(walletId, id),
        ),
      findDurableEntry: ({ walletId, id }) =>
        network.call(caller, () => `durable entry ${nameOf({ id })}`, {
          run: () => database.entry(walletId, id),
          write: database.hasDurableHeads,
        }),
      findAnywhere: (id, walletIds) =>
        read(
          () => `entry ${id.slice(0, 10)} anywhere`,
          () => {
            for (const walletId of walletIds) {
              const entry = database.entry(walletId, id);
              if (entry) return { ...entry, walletId };
            }
            return undefined;
          },
        ),
      walletIds: () =>
        read(
          () => 'wallets',
          () => [...database.chains.keys()],
        ),
      unpublished: (before, limit) =>
        read(
          () => 'unpublished',
          () => database.unpublished(before, limit),
        ),
      markPublished: (pages) =>
        network.call(caller, () => `mark published ${pages.map(({ _id }) => _id.replace(/\/0*/, '/'))}`, {
          run: (limit) => database.markPublished(pages.slice(0, limit).map(({ _id }) => _id)),
          size: pages.length,
          write: true,
        }),
    },
    revocations: {
      has: (id) =>
        read(
          () => `revocation ${id.slice(0, 10)}`,
          () => database.isRevoked(id),
        ),
      add: (ids) =>
        network.call(caller, () => `revoke ${ids.join(' ')}`, {
          run: () => database.revoke(ids),
          write: true,
        }),
    },
  };
}
