import type { Sweep } from '../../platform/database/event-draft.ts';
import { ownerOfWallet } from '../ledger/ledger-page.ts';
import { reachedCap } from '../ledger/wallet-rules.ts';
import type { WalletsContext } from './context.ts';
import { type WalletSummary, wasFunded } from './wallet-summary-store.ts';
import { baselineOf, sampledPages, spentPerDay, usePeriod } from './wallet-use.ts';
import type { WalletHead } from './wallet-use-store.ts';

const day = 86_400_000;
/** If a balance lasts longer than 100 years, its end is not stored. */
const longestTimeLeft = 36_500 * day;
/** A flush refreshes this many wallets at a time. */
const mostPerRead = 250;
/** Each sweep also refreshes the next wallets in the order of their ids, this many at a time. */
const groupSize = 100;
/** The most groups that one sweep refreshes. After the first group, it goes on only while summaries are missing. */
const mostGroupsPerSweep = 20;

/** Returns the field `capped` of a summary, if a spend cap is reached. */
function cappedOf(head: WalletHead, now: number): Pick<WalletSummary, 'capped'> {
  const reached = reachedCap(head, now);
  // A cap of 0 is reached without any charge. The summary names only a cap that charges have reached.
  if (!reached || reached.used === 0) return {};
  const { bucket, limit, start, length } = reached;
  return { capped: { bucket, limit, until: new Date(start + length) } };
}

/** Returns the field `endsAt` of a summary, if the balance will be used up. */
function endsAtOf(balance: number, perDay: number, now: number): Pick<WalletSummary, 'endsAt'> {
  const left = perDay > 0 ? (balance / perDay) * day : Infinity;
  return left < longestTimeLeft ? { endsAt: new Date(now + left) } : {};
}

/**
 * Keeps a summary of each wallet beside its ledger, so that lists of wallets read no ledger.
 * Each sweep refreshes the wallets that this process has written.
 * It also refreshes the next group of all wallets, so that no summary stays outdated after a crash or a restore.
 */
export function createWalletSummaries({ stores, clock }: Pick<WalletsContext, 'stores' | 'clock'>) {
  const { summaries: store, ledger, use } = stores;
  /** The wallets that this process has written since the last flush. */
  const touched = new Set<string>();
  /** The next group of all wallets begins after this id. */
  let lastRefreshedId = '';

  /** Returns the wallets with entries in the last seven days, each with the page (`base`) from which its spending is computed. */
  async function findBasePages(wallets: readonly WalletHead[], now: number) {
    const active = wallets.filter((wallet) => wasFunded(wallet) && now - wallet.at.getTime() < usePeriod);
    const wantedPages = active.flatMap(({ walletId, n: last }) =>
      sampledPages(last).map((n) => ({ walletId, n })),
    );
    const samples = await use.samples(wantedPages);
    return active.flatMap((wallet) => {
      const base = baselineOf(samples.get(wallet.walletId) ?? [], now);
      return base ? [{ wallet, base }] : [];
    });
  }

  /** Returns the cents that each wallet spends per day, by wallet id. Wallets without recent entries are left out. */
  async function computeSpending(wallets: readonly WalletHead[], now: number): Promise<Map<string, number>> {
    const basePages = await findBasePages(wallets, now);
    const basePageNumbers = basePages.map(({ wallet, base }) => [wallet.walletId, base.n] as const);
    const movesByWallet = await use.moves(new Map(basePageNumbers));
    const spending = new Map<string, number>();
    for (const { wallet, base } of basePages) {
      const moves = movesByWallet.get(wallet.walletId) ?? [];
      spending.set(wallet.walletId, spentPerDay(wallet, base, { moves, now }));
    }
    return spending;
  }

  /** Returns the present summaries of these wallets, in the order of their ids. */
  async function summarise(walletIds: readonly string[]): Promise<WalletSummary[]> {
    const now = clock.now();
    const heads = await use.heads(walletIds);
    const spending = await computeSpending(heads, now);
    return heads.map((head) => {
      const { walletId, n, at, balance, seq } = head;
      const perDay = spending.get(walletId) ?? 0;
      return {
        _id: walletId,
        mode: ownerOfWallet(walletId).mode,
        n,
        at,
        balance,
        seq,
        spentPerDay: perDay,
        ...endsAtOf(balance, perDay, now),
        ...cappedOf(head, now),
      };
    });
  }

  /** Stores new summaries of these wallets. @returns whether any of them had no summary */
  async function refresh(walletIds: readonly string[]): Promise<boolean> {
    const storedPages = await store.pageNumbers(walletIds);
    await store.put(await summarise(walletIds), storedPages);
    return storedPages.size < walletIds.length;
  }

  /** Refreshes the touched wallets. Those that are touched meanwhile wait for the next flush, so that a flush under load ends. */
  async function flush(): Promise<void> {
    const due = [...touched];
    touched.clear();
    for (let first = 0; first < due.length; first += mostPerRead) {
      try {
        await refresh(due.slice(first, first + mostPerRead));
      } catch (error) {
        for (const walletId of due.slice(first)) touched.add(walletId);
        throw error;
      }
    }
  }

  /** Refreshes the next group of all wallets. @returns whether later groups may lack summaries, because this one did */
  async function refreshNextGroup(): Promise<boolean> {
    const group = await ledger.walletIds({ after: lastRefreshedId, limit: groupSize });
    const hadMissing = group.length > 0 && (await refresh(group));
    const isLastGroup = group.length < groupSize;
    // The next sweep then begins with the first wallet again.
    lastRefreshedId = isLastGroup ? '' : (group.at(-1) ?? '');
    return hadMissing && !isLastGroup;
  }

  const sweep: Sweep = {
    name: 'wallet summaries',
    /** Stores the summaries of changed wallets, and then some of those that are missing or old. */
    async sweep() {
      await flush();
      for (let group = 0; group < mostGroupsPerSweep; group += 1) {
        const mayMoreBeMissing = await refreshNextGroup();
        if (!mayMoreBeMissing) break;
      }
    },
  };

  return {
    summarise,

    async spentPerDay(walletId: string): Promise<number> {
      const [summary] = await summarise([walletId]);
      return summary?.spentPerDay ?? 0;
    },

    flush,
    sweep,
    /** Marks a wallet for the next flush. Call this after a page of the wallet was written. */
    touch: (walletId: string): void => void touched.add(walletId),
  };
}
export type WalletSummaries = ReturnType<typeof createWalletSummaries>;
