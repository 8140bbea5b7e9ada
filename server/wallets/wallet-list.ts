import type { Total, Unpaged } from '../../contracts/admin/references.ts';
import type { ListWallets, WalletListing } from '../../contracts/admin/wallets.ts';
import { Mode } from '../../contracts/identifiers.ts';
import type { LedgerStore } from '../billing/ledger-store.ts';
import type { Clock } from '../platform/clock.ts';
import { ApiError } from '../platform/errors.ts';
import type { WalletSummaries } from './wallet-summaries.ts';
import type { WalletSummary, WalletSummaryStore } from './wallet-summary-store.ts';

interface Dependencies {
  store: Pick<WalletSummaryStore, 'below' | 'endingBefore'>;
  ledger: Pick<LedgerStore, 'walletIds' | 'countWallets'>;
  summaries: Pick<WalletSummaries, 'summarise' | 'flush'>;
  clock: Pick<Clock, 'now'>;
  partnerNames: (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;
}

const day = 86_400_000;

/** The part of a sorted list that follows an id. @throws ApiError not_found */
function pageOf(sorted: readonly WalletSummary[], { limit, after }: Pick<ListWallets, 'limit' | 'after'>) {
  const last = after === undefined ? -1 : sorted.findIndex(({ _id }) => _id === after);
  if (after !== undefined && last === -1) {
    throw new ApiError('not_found', { description: `No wallet ${after} in this list` });
  }
  return sorted.slice(last + 1, last + 1 + limit);
}

/** `svcadmin wallets list`. What is asked of all wallets is answered from their summaries. */
export function createWalletList({ store, ledger, summaries, clock, partnerNames }: Dependencies) {
  async function view(found: readonly WalletSummary[]): Promise<WalletListing[]> {
    const names = await partnerNames(found.map(({ _id }) => _id.split(':')[0] ?? ''));
    return found.map(({ _id, mode, balance, spentPerDay, at }) => {
      const [partnerId = ''] = _id.split(':');
      return {
        id: _id,
        partnerId,
        partnerName: names.get(partnerId) ?? null,
        mode,
        balance,
        currency: 'USD',
        spentPerDay,
        daysLeft: spentPerDay > 0 ? Math.round((balance / spentPerDay) * 10) / 10 : null,
        lastEntryAt: at.toISOString(),
      };
    });
  }

  /** Wallets that a limit narrows, in the order of the list. */
  async function narrowed({ mode, below, daysLeft }: Unpaged<ListWallets>): Promise<WalletSummary[]> {
    await summaries.flush();
    const modes = mode === undefined ? Mode.options : [mode];
    if (daysLeft === undefined) return store.below(modes, below ?? 0);
    const ending = await store.endingBefore(modes, new Date(clock.now() + daysLeft * day));
    return ending.filter(({ balance }) => below === undefined || balance < below);
  }

  const isNarrowed = ({ below, daysLeft }: Unpaged<ListWallets>): boolean =>
    below !== undefined || daysLeft !== undefined;

  return {
    async list({ limit, after, ...filter }: ListWallets): Promise<WalletListing[]> {
      const page = { limit, after };
      if (isNarrowed(filter)) return view(pageOf(await narrowed(filter), page));
      return view(await summaries.summarise(await ledger.walletIds({ ...page, mode: filter.mode })));
    },

    async count(filter: Unpaged<ListWallets>): Promise<Total> {
      const total = isNarrowed(filter)
        ? (await narrowed(filter)).length
        : await ledger.countWallets(filter.mode);
      return { total, exact: true };
    },
  };
}
export type WalletList = ReturnType<typeof createWalletList>;
