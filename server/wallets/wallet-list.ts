import type { Total, Unpaged } from '../../contracts/admin/references.ts';
import type { ListWallets, WalletListing } from '../../contracts/admin/wallets.ts';
import { Mode } from '../../contracts/identifiers.ts';
import type { LedgerStore } from '../billing/ledger-store.ts';
import type { Clock } from '../platform/clock.ts';
import type { PartnerNames } from '../platform/database/partner-names.ts';
import { ApiError } from '../platform/errors.ts';
import type { WalletSummaries } from './wallet-summaries.ts';
import type { WalletSummary, WalletSummaryStore } from './wallet-summary-store.ts';

/** Exchanges that a wallet could not pay for. */
export interface Unpaid {
  count: number;
  lastAt: Date;
}

interface Dependencies {
  store: Pick<WalletSummaryStore, 'below' | 'endingBefore' | 'unfunded'>;
  ledger: Pick<LedgerStore, 'walletIds' | 'countWallets'>;
  summaries: Pick<WalletSummaries, 'summarise' | 'flush'>;
  clock: Pick<Clock, 'now'>;
  /** Returns the wallets that could not pay for exchanges since a time. */
  unpaidWallets: (since: Date) => Promise<ReadonlyMap<string, Unpaid>>;
  partnerNames: PartnerNames;
}

const day = 86_400_000;
const unpaidPeriod = 7 * day;

/** Returns the days until the balance is used up; null if nothing is spent. */
export const daysLeftOf = ({ balance, spentPerDay }: Pick<WalletSummary, 'balance' | 'spentPerDay'>) =>
  spentPerDay > 0 ? Math.round((balance / spentPerDay) * 10) / 10 : null;

const lowestBalanceFirst = (a: WalletSummary, b: WalletSummary): number =>
  a.balance - b.balance || (a._id < b._id ? -1 : 1);

/** Returns the part of a sorted list that follows an id. @throws ApiError `not_found` if the list does not have the id */
function pageOf(sorted: readonly WalletSummary[], { limit, after }: Pick<ListWallets, 'limit' | 'after'>) {
  const last = after === undefined ? -1 : sorted.findIndex(({ _id }) => _id === after);
  if (after !== undefined && last === -1) {
    throw new ApiError('not_found', { description: `No wallet ${after} in this list` });
  }
  return sorted.slice(last + 1, last + 1 + limit);
}

/** Makes the list of `svcadmin wallets list`. Filters over all wallets use the summaries. */
export function createWalletList({
  store,
  ledger,
  summaries,
  clock,
  unpaidWallets,
  partnerNames,
}: Dependencies) {
  const unpaidLately = () => unpaidWallets(new Date(clock.now() - unpaidPeriod));

  async function view(found: readonly WalletSummary[]): Promise<WalletListing[]> {
    const [names, unpaid] = await Promise.all([
      partnerNames(found.map(({ _id }) => _id.split(':')[0] ?? '')),
      unpaidLately(),
    ]);
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
        daysLeft: daysLeftOf({ balance, spentPerDay }),
        lastEntryAt: at.toISOString(),
        unpaid: unpaid.get(_id)?.count ?? 0,
        lastUnpaidAt: unpaid.get(_id)?.lastAt.toISOString() ?? null,
      };
    });
  }

  /** Returns the wallets that were never funded but were to pay for an exchange lately. */
  async function unfundedAndTried(modes: readonly Mode[]): Promise<WalletSummary[]> {
    const found = await summaries.summarise([...(await unpaidLately()).keys()]);
    return found.filter(({ seq, mode }) => seq === 0 && modes.includes(mode));
  }

  /** Returns the wallets that meet the limits of a filter, in the order of the list. */
  async function filtered({
    mode,
    below,
    daysLeft,
    unfunded,
  }: Unpaged<ListWallets>): Promise<WalletSummary[]> {
    await summaries.flush();
    const modes = mode === undefined ? Mode.options : [mode];
    if (unfunded) return store.unfunded(modes);
    const isBelow = ({ balance }: WalletSummary) => below === undefined || balance < below;
    const tried = (await unfundedAndTried(modes)).filter(isBelow);
    if (daysLeft === undefined) {
      return [...tried, ...(await store.below(modes, below ?? 0))].toSorted(lowestBalanceFirst);
    }
    const ending = await store.endingBefore(modes, new Date(clock.now() + daysLeft * day));
    return [...tried, ...ending.filter(isBelow)];
  }

  const hasLimits = ({ below, daysLeft, unfunded }: Unpaged<ListWallets>): boolean =>
    [below, daysLeft, unfunded].some((limit) => limit !== undefined);

  return {
    async list({ limit, after, ...filter }: ListWallets): Promise<WalletListing[]> {
      const page = { limit, after };
      if (hasLimits(filter)) return view(pageOf(await filtered(filter), page));
      return view(await summaries.summarise(await ledger.walletIds({ ...page, mode: filter.mode })));
    },

    async count(filter: Unpaged<ListWallets>): Promise<Total> {
      const total = hasLimits(filter)
        ? (await filtered(filter)).length
        : await ledger.countWallets(filter.mode);
      return { total, exact: true };
    },
  };
}
export type WalletList = ReturnType<typeof createWalletList>;
