import { isUnavailable } from '../platform/database/connect.ts';
import { ApiError } from '../platform/errors.ts';
import { createStage } from '../platform/stage.ts';
import { createReleases } from './releases.ts';
import { type Posting, type Verdict, verdictOf, type WalletState } from './wallet-model.ts';
import type { WalletBatch } from './wallet-pipeline.ts';
import type { WalletStore } from './wallet-store.ts';

interface Move {
  walletId: string;
  /** Undefined for a flush that only carries settled ids. */
  posting?: Posting;
}

interface WalletSettings {
  wallets: Pick<WalletStore, 'apply' | 'settledCount'>;
  /** Milliseconds; only ever goes forward. */
  uptime?: () => number;
}

const resendPause = 10;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** One batch a wallet: each id once (the earliest basis holds), with the ids that are due to leave. */
function groupByWallet(moves: readonly Move[], take: (walletId: string) => string[]): WalletBatch[] {
  const grouped = new Map<string, Map<string, Posting>>();
  for (const { walletId, posting } of moves) {
    const postings = grouped.get(walletId) ?? new Map<string, Posting>();
    grouped.set(walletId, postings);
    if (!posting) continue;
    const twin = postings.get(posting.id);
    postings.set(posting.id, twin ? { ...twin, basis: Math.min(twin.basis, posting.basis) } : posting);
  }
  return [...grouped].map(([walletId, postings]) => ({
    walletId,
    settled: take(walletId),
    postings: [...postings.values()],
  }));
}

/**
 * The wallet decides everything about money in one update: balance, both spend windows, backlog. All
 * wallets of this process share one update in flight; what arrives meanwhile goes out with the next.
 */
export function createWallet({ wallets, uptime = () => performance.now() }: WalletSettings) {
  const lastSettled = new Map<string, number>();
  const releases = createReleases((walletId) => send({ walletId }));

  function learn(walletId: string, settled: number): void {
    lastSettled.set(walletId, Math.max(settled, lastSettled.get(walletId) ?? 0));
  }

  const send = createStage<Move, WalletState | undefined>({
    async run(moves) {
      const batches = groupByWallet(moves, releases.take);
      try {
        const states = await wallets.apply(batches);
        for (const [walletId, state] of states) learn(walletId, state.settled);
        return moves.map(({ walletId }) => states.get(walletId));
      } catch (error) {
        // Whether it landed is unknown; releasing twice is harmless, forgetting to release is not.
        for (const { walletId, settled } of batches) releases.add(walletId, settled);
        throw error;
      }
    },
  });

  return {
    /**
     * `settled` of the wallet as this process last saw it: old is safe, it only makes the guard stricter.
     * @throws ApiError not_found for a wallet that was never opened
     */
    async basis(walletId: string): Promise<number> {
      const known = lastSettled.get(walletId);
      if (known !== undefined) return known;
      const settled = await wallets.settledCount(walletId);
      if (settled === undefined) throw new ApiError('not_found', { description: `No wallet ${walletId}` });
      learn(walletId, settled);
      return settled;
    },

    /**
     * Moves money once for `posting.id`. An ambiguous result is never read as "not debited": the same id
     * is sent again until `until` (on the clock of `uptime`, ms), then the error is thrown.
     */
    async post(walletId: string, posting: Posting, until: number): Promise<Verdict> {
      for (;;) {
        const last = uptime() >= until;
        try {
          const state = await send({ walletId, posting });
          if (!state) throw new ApiError('not_found', { description: `No wallet ${walletId}` });
          const verdict = verdictOf(state, posting);
          if (verdict.outcome === 'full') releases.hurry(walletId);
          if (verdict.outcome !== 'resend' && (verdict.outcome !== 'full' || last)) return verdict;
        } catch (error) {
          if (!isUnavailable(error) || last) throw error;
        }
        await pause(resendPause);
      }
    },

    /** Ids whose ledger entries are written leave `holds` with the next update, or within 700 ms. */
    release: releases.add,

    /** Sends what waits to leave; for a graceful stop. */
    drain: releases.drain,
  };
}
export type WalletPort = ReturnType<typeof createWallet>;
