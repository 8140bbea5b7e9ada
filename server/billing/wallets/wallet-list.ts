import type { Total, Unpaged } from '../../../contracts/admin/references.ts';
import type { ListWallets, WalletListing } from '../../../contracts/admin/wallets.ts';
import { Mode } from '../../../contracts/identifiers.ts';
import { ApiError, requireFound } from '../../platform/errors.ts';
import { ownerOfWallet } from '../ledger/ledger-page.ts';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import type { WalletsContext } from './context.ts';
import type { WalletSummaries } from './wallet-summaries.ts';
import { type WalletSummary, wasFunded } from './wallet-summary-store.ts';

type Filter = Unpaged<ListWallets>;

const day = 86_400_000;
const unpaidPeriod = 7 * day;

/** Returns the days until the balance is used up, with one decimal; null if nothing is spent. */
export function daysLeftOf({ balance, spentPerDay }: Pick<WalletSummary, 'balance' | 'spentPerDay'>) {
  if (spentPerDay <= 0) return null;
  const days = balance / spentPerDay;
  return Math.round(days * 10) / 10;
}

const lowestBalanceFirst = (a: WalletSummary, b: WalletSummary): number =>
  a.balance - b.balance || (a._id < b._id ? -1 : 1);

/** The error for a wallet that does not exist. Every partner has both wallets from its creation on, so there is no such partner. */
export const unknownPartner = (walletId: string): ApiError =>
  new ApiError('not_found', { description: `No partner ${ownerOfWallet(walletId).partnerId}` });

/** Returns the ids of one page of all wallets, in order. @throws ApiError `not_found` if the wallet `after` does not exist */
export async function readWalletIds(
  ledger: Pick<LedgerStore, 'head' | 'walletIds'>,
  range: Parameters<LedgerStore['walletIds']>[0],
): Promise<string[]> {
  const { after } = range;
  if (after !== undefined) requireFound(await ledger.head(after), `No wallet ${after}`);
  return ledger.walletIds(range);
}

/** Returns the wallets that follow `after` in a sorted list. @throws ApiError `not_found` if the list does not have `after` */
function pageOf(sorted: readonly WalletSummary[], { limit, after }: Pick<ListWallets, 'limit' | 'after'>) {
  const last = after === undefined ? -1 : sorted.findIndex(({ _id }) => _id === after);
  if (after !== undefined && last === -1) {
    throw new ApiError('not_found', { description: `No wallet ${after} in this list` });
  }
  return sorted.slice(last + 1, last + 1 + limit);
}

/** Makes the list of `svcadmin wallets list`. Filters over all wallets use the summaries. */
export function createWalletList(
  context: Pick<WalletsContext, 'stores' | 'clock' | 'unpaidWallets' | 'partnerNames'>,
  summaries: WalletSummaries,
) {
  const { clock, unpaidWallets, partnerNames } = context;
  const { summaries: store, ledger } = context.stores;
  const readRecentUnpaid = () => unpaidWallets(new Date(clock.now() - unpaidPeriod));

  async function viewAll(found: readonly WalletSummary[]): Promise<WalletListing[]> {
    const [names, { wallets: unpaid, sampledSince }] = await Promise.all([
      partnerNames(found.map(({ _id }) => ownerOfWallet(_id).partnerId)),
      readRecentUnpaid(),
    ]);
    return found.map(({ _id, balance, spentPerDay, at }) => {
      const { partnerId, mode } = ownerOfWallet(_id);
      return {
        id: _id,
        partnerId,
        partnerName: names.get(partnerId) ?? null,
        mode,
        balance,
        currency: 'USD',
        spentPerDay,
        daysLeft: daysLeftOf({ balance, spentPerDay }),
        lastEntryAt: at.toISOString(),
        unpaid: unpaid.get(_id)?.count ?? 0,
        lastUnpaidAt: unpaid.get(_id)?.lastAt.toISOString() ?? null,
        unpaidSampledSince: sampledSince,
      };
    });
  }

  /**
   * Returns the wallets that could not pay an exchange in the last 7 days, and that no spending tells: they were never funded, or
   * have spent nothing and got nothing since.
   */
  async function findUnableToPay(modes: readonly Mode[]): Promise<WalletSummary[]> {
    const unpaid = (await readRecentUnpaid()).wallets;
    const found = await summaries.summarise([...unpaid.keys()]);
    const isEmptySince = (wallet: WalletSummary) =>
      daysLeftOf(wallet) === null && wallet.at < (unpaid.get(wallet._id)?.lastAt ?? wallet.at);
    return found.filter(
      (wallet) => modes.includes(wallet.mode) && (!wasFunded(wallet) || isEmptySince(wallet)),
    );
  }

  /**
   * Returns the wallets that match a filter, in the order of the list. `unfunded` ignores the other conditions, because all these
   * wallets have a balance of 0. `below` and `daysLeft` include wallets that were never funded only if they are in use: an
   * exchange was refused because they could not pay. `daysLeft` includes those that are left with less than the price, too.
   */
  async function findMatching({ mode, below, daysLeft, unfunded }: Filter): Promise<WalletSummary[]> {
    await summaries.flush();
    const modes = mode === undefined ? Mode.options : [mode];
    if (unfunded) return store.unfunded(modes);
    const isBelow = ({ balance }: WalletSummary) => below === undefined || balance < below;
    const unableToPay = (await findUnableToPay(modes)).filter(isBelow);
    if (daysLeft !== undefined) {
      // Wallets that cannot pay come first, because nothing is left. The store sorts the others by their end.
      const ending = await store.endingBefore(modes, new Date(clock.now() + daysLeft * day));
      return [...unableToPay, ...ending.filter(isBelow)];
    }
    const unfundedInUse = unableToPay.filter((wallet) => !wasFunded(wallet));
    const low = below === undefined ? [] : await store.below(modes, below);
    return [...unfundedInUse, ...low].toSorted(lowestBalanceFirst);
  }

  /** Whether a filter is about balance or spending, which only the stored summaries have for all wallets. */
  const needsSummaries = ({ below, daysLeft, unfunded }: Filter): boolean =>
    [below, daysLeft, unfunded].some((condition) => condition !== undefined);

  return {
    async list({ limit, after, ...filter }: ListWallets): Promise<WalletListing[]> {
      const page = { limit, after };
      if (needsSummaries(filter)) return viewAll(pageOf(await findMatching(filter), page));
      return viewAll(await summaries.summarise(await readWalletIds(ledger, { ...page, mode: filter.mode })));
    },

    async count(filter: Filter): Promise<Total> {
      const total = needsSummaries(filter)
        ? (await findMatching(filter)).length
        : await ledger.countWallets(filter.mode);
      return { total, exact: true };
    },
  };
}
export type WalletList = ReturnType<typeof createWalletList>;
