import type { ListWallets, WalletListing } from '../../contracts/admin/wallets.ts';
import { Mode } from '../../contracts/identifiers.ts';
import type { Clock } from '../platform/clock.ts';
import { ApiError } from '../platform/errors.ts';
import type { WalletHead, WalletListStore } from './wallet-list-store.ts';
import { baselineOf, sampledPages, spentPerDay, usePeriod } from './wallet-use.ts';

interface Dependencies {
  store: WalletListStore;
  clock: Pick<Clock, 'now'>;
  partnerNames: (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;
}

/** A wallet and what it spends a day, in cents. */
interface Spending {
  wallet: WalletHead;
  perDay: number;
}

/** Wallets of one look. */
const atOnce = 1_000;

const daysLeftOf = ({ wallet, perDay }: Spending): number =>
  perDay > 0 ? wallet.balance / perDay : Infinity;

/** The part of a sorted list that follows an id. @throws ApiError not_found */
function pageOf<T>(
  sorted: readonly T[],
  idOf: (one: T) => string,
  page: Pick<ListWallets, 'limit' | 'after'>,
) {
  const { limit, after } = page;
  const last = after === undefined ? -1 : sorted.findIndex((one) => idOf(one) === after);
  if (after !== undefined && last === -1) {
    throw new ApiError('not_found', { description: `No wallet ${after} in this list` });
  }
  return sorted.slice(last + 1, last + 1 + limit);
}

const idOf = ({ walletId }: WalletHead) => walletId;

/** `svcadmin wallets list`. */
export function createWalletList({ store, clock, partnerNames }: Dependencies) {
  async function allHeads(suffix: string): Promise<WalletHead[]> {
    const all: WalletHead[] = [];
    for (let after = ''; ; ) {
      const found = await store.heads({ after, limit: atOnce, suffix });
      all.push(...found);
      if (found.length < atOnce) return all;
      after = found.at(-1)?.walletId ?? after;
    }
  }

  /** Those in which nothing moved lately spend nothing. */
  async function spendingOf(wallets: readonly WalletHead[]): Promise<Spending[]> {
    const now = clock.now();
    const active = wallets.filter(({ at, seq }) => seq > 0 && now - at.getTime() < usePeriod);
    const samples = await store.samples(
      active.flatMap(({ walletId, n }) => sampledPages(n).map((page) => ({ walletId, n: page }))),
    );
    const bases = new Map(
      active.flatMap(({ walletId }) => {
        const base = baselineOf(samples.get(walletId) ?? [], now);
        return base ? [[walletId, base] as const] : [];
      }),
    );
    const moves = await store.moves(new Map([...bases].map(([walletId, { n }]) => [walletId, n])));
    return wallets.map((wallet) => {
      const base = bases.get(wallet.walletId);
      const mine = moves.get(wallet.walletId) ?? [];
      return { wallet, perDay: base ? spentPerDay(wallet, base, { moves: mine, now }) : 0 };
    });
  }

  async function view(spending: readonly Spending[]): Promise<WalletListing[]> {
    const names = await partnerNames(spending.map(({ wallet }) => wallet.walletId.split(':')[0] ?? ''));
    return spending.map((one) => {
      const { walletId, balance, at } = one.wallet;
      const [partnerId = '', mode] = walletId.split(':');
      const left = daysLeftOf(one);
      return {
        id: walletId,
        partnerId,
        partnerName: names.get(partnerId) ?? null,
        mode: Mode.parse(mode),
        balance,
        currency: 'USD',
        spentPerDay: one.perDay,
        daysLeft: Number.isFinite(left) ? Math.round(left * 10) / 10 : null,
        lastEntryAt: at.toISOString(),
      };
    });
  }

  return async ({ mode, below, daysLeft, ...page }: ListWallets): Promise<WalletListing[]> => {
    const suffix = mode === undefined ? '' : `:${mode}`;
    if (below === undefined && daysLeft === undefined) {
      const { after = '', limit } = page;
      return view(await spendingOf(await store.heads({ after, limit, suffix })));
    }
    const all = await allHeads(suffix);
    const low = all
      .filter(({ balance, seq }) => seq > 0 && (below === undefined || balance < below))
      .toSorted((one, other) => one.balance - other.balance || (idOf(one) < idOf(other) ? -1 : 1));
    if (daysLeft === undefined) return view(await spendingOf(pageOf(low, idOf, page)));
    const ending = (await spendingOf(low))
      .filter((one) => daysLeftOf(one) <= daysLeft)
      .toSorted((one, other) => daysLeftOf(one) - daysLeftOf(other));
    return view(pageOf(ending, ({ wallet }) => idOf(wallet), page));
  };
}
