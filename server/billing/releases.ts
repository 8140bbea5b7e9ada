/** Longest time in milliseconds that a settled id waits for an update that goes out anyway. */
const flushAfter = 700;
/** So many waiting ids are worth an update of their own. */
const flushAtCount = 96;
/** Settled ids that ride along with one update. */
const largestRelease = 160;

/**
 * Ids whose ledger entries are written, waiting to leave their wallet: they ride along with the next update,
 * or with one of their own before long.
 * @param flush sends an update that only carries them; a failed one has put its ids back
 */
export function createReleases(flush: (walletId: string) => Promise<unknown>) {
  const queues = new Map<string, string[]>();
  const timers = new Map<string, NodeJS.Timeout>();
  const underway = new Set<Promise<unknown>>();

  function send(walletId: string): Promise<unknown> {
    const sent = flush(walletId).catch(() => undefined);
    underway.add(sent);
    return sent.finally(() => underway.delete(sent));
  }

  function sleep(walletId: string): void {
    clearTimeout(timers.get(walletId));
    timers.delete(walletId);
  }

  function wake(walletId: string, delay: number): void {
    if (timers.has(walletId) && delay > 0) return;
    sleep(walletId);
    const timer = setTimeout(() => {
      timers.delete(walletId);
      if (queues.has(walletId)) void send(walletId);
    }, delay);
    timers.set(walletId, timer.unref());
  }

  function add(walletId: string, ids: readonly string[]): void {
    if (ids.length === 0) return;
    const queue = [...(queues.get(walletId) ?? []), ...ids];
    queues.set(walletId, queue);
    wake(walletId, queue.length >= flushAtCount ? 0 : flushAfter);
  }

  return {
    add,

    /** As many as one update takes; what is left over is not forgotten. */
    take(walletId: string): string[] {
      const queue = queues.get(walletId) ?? [];
      queues.delete(walletId);
      sleep(walletId);
      add(walletId, queue.slice(largestRelease));
      return queue.slice(0, largestRelease);
    },

    /** Makes room in a wallet that is full. */
    hurry: (walletId: string) => wake(walletId, 0),

    /** Sends all that waits; for a graceful stop. Gives up on what cannot be sent: the sweep finds it. */
    async drain(): Promise<void> {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
      await Promise.all(underway);
      for (let round = 0; round < 3 && queues.size > 0; round += 1) {
        await Promise.all([...queues.keys()].map(send));
      }
    },
  };
}
