import { ownerOfWallet } from '../billing/ledger-page.ts';
import type { LedgerStore } from '../billing/ledger-store.ts';
import type { Clock } from '../platform/clock.ts';
import type { Sweep } from '../platform/database/event-draft.ts';
import { hour, minute, windowStart } from '../platform/http/windows.ts';
import type { WalletSummary, WalletSummaryStore } from './wallet-summary-store.ts';
import { baselineOf, sampledPages, spentPerDay, usePeriod } from './wallet-use.ts';
import type { WalletHead, WalletUseStore } from './wallet-use-store.ts';

interface Settings {
  store: Pick<WalletSummaryStore, 'pageNumbers' | 'put'>;
  ledger: Pick<LedgerStore, 'walletIds'>;
  use: WalletUseStore;
  clock: Pick<Clock, 'now'>;
}

const day = 86_400_000;
/** A summary reports no balance that lasts longer than this, in milliseconds. */
const longestTimeLeft = 36_500 * day;
/** The most written wallets whose summaries are refreshed together. */
const mostPerRead = 250;
/** The number of wallets in a group. Each sweep refreshes the next group of all wallets, written or not. */
const groupSize = 100;
/** The most groups that one sweep refreshes. It refreshes more than one only if summaries are missing. */
const mostGroupsPerSweep = 20;

function capOf({ minute: m, hour: h, caps }: WalletHead, now: number): Pick<WalletSummary, 'capped'> {
  const windows = [
    { bucket: 'minute' as const, window: m, length: minute, limit: caps.perMinute },
    { bucket: 'hour' as const, window: h, length: hour, limit: caps.perHour },
  ];
  const full = windows.findLast(
    ({ window: { start, used }, length, limit }) =>
      start.getTime() === windowStart(now, length) && used >= limit,
  );
  if (!full) return {};
  const { bucket, limit, window, length } = full;
  return { capped: { bucket, limit, until: new Date(window.start.getTime() + length) } };
}

function endOf(balance: number, perDay: number, now: number): Pick<WalletSummary, 'endsAt'> {
  const left = perDay > 0 ? (balance / perDay) * day : Infinity;
  return left < longestTimeLeft ? { endsAt: new Date(now + left) } : {};
}

/**
 * Keeps a summary of each wallet beside its ledger, so that lists of wallets read no ledger.
 * Each sweep refreshes the wallets that this process has written.
 * It also refreshes the next group of all wallets, so that no summary stays outdated after a crash or a restore.
 */
export function createWalletSummaries({ store, ledger, use, clock }: Settings) {
  const touched = new Set<string>();
  let lastRefreshedId = '';

  /** Returns the wallets with recent entries, each with the page (`base`) from which its spending is counted. */
  async function findBasePages(wallets: readonly WalletHead[], now: number) {
    const active = wallets.filter(({ at, seq }) => seq > 0 && now - at.getTime() < usePeriod);
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
        ...endOf(balance, perDay, now),
        ...capOf(head, now),
      };
    });
  }

  /** Stores new summaries of these wallets. @returns whether any of them had no summary */
  async function refresh(walletIds: readonly string[]): Promise<boolean> {
    const storedPages = await store.pageNumbers(walletIds);
    await store.put(await summarise(walletIds), storedPages);
    return storedPages.size < walletIds.length;
  }

  /**
   * Refreshes the wallets that this process has written since the last flush. Wallets that are written during the flush wait for
   * the next one. Otherwise a flush under load would never end.
   */
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

  /** Refreshes the next group of all wallets. @returns whether a summary was missing and more groups follow */
  async function refreshNextGroup(): Promise<boolean> {
    const group = await ledger.walletIds({ after: lastRefreshedId, limit: groupSize });
    const wereMissing = group.length > 0 && (await refresh(group));
    lastRefreshedId = group.length < groupSize ? '' : (group.at(-1) ?? '');
    return wereMissing && lastRefreshedId !== '';
  }

  const sweep: Sweep = {
    name: 'wallet summaries',
    async sweep() {
      await flush();
      for (let group = 0; group < mostGroupsPerSweep; group += 1) {
        const isMoreMissing = await refreshNextGroup();
        if (!isMoreMissing) break;
      }
    },
  };

  return {
    summarise,
    flush,
    sweep,
    /** Marks a wallet for the next flush. Call this after a page of the wallet was written. */
    touch: (walletId: string): void => void touched.add(walletId),
  };
}
export type WalletSummaries = ReturnType<typeof createWalletSummaries>;
