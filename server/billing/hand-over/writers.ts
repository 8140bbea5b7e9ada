import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Peer } from '../../platform/jobs/processes.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';

export interface WriterSettings {
  /** Id of this process. */
  self: string;
  /** Whether this process writes for others. */
  isWriter: boolean;
  /** The living processes that do. */
  readPeers: () => Promise<readonly Peer[]>;
  /** Resolves where a peer takes postings from here. */
  probe: (peer: Peer) => Promise<unknown>;
  onPeers: (count: { answering: number; silent: number }) => void;
  logger: Pick<Logger, 'warn' | 'info'>;
}

/** Wallets whose writer a process remembers. */
const remembered = 20_000;

const weight = (processId: string, walletId: string) => hash('sha256', `${processId} ${walletId}`, 'hex');

/**
 * Names the writer of each wallet: of the living processes, the one with the highest hash of process and wallet. A peer counts
 * from its answer to a probe until it fails. Two processes may disagree for a while: the name is a hint.
 */
export function createWriters({ self, isWriter, readPeers, probe, onPeers, logger }: WriterSettings) {
  const answering = new Map<string, Peer>();
  const silent = new Set<string>();
  const chosen = new LRUCache<string, Peer | 'self'>({ max: remembered });

  function choose(walletId: string): Peer | 'self' {
    let [best, highest]: [Peer | 'self', string] = ['self', isWriter ? weight(self, walletId) : ''];
    for (const peer of answering.values()) {
      const its = weight(peer.id, walletId);
      if (its > highest) [best, highest] = [peer, its];
    }
    chosen.set(walletId, best);
    return best;
  }

  function suspect(peer: Peer, err: unknown): void {
    if (answering.delete(peer.id)) chosen.clear();
    if (!silent.has(peer.id))
      logger.warn({ err, peer }, 'no process answers at the private address of another');
    silent.add(peer.id);
  }

  async function prove(peer: Peer): Promise<void> {
    await probe(peer);
    answering.set(peer.id, peer);
    chosen.clear();
    if (silent.delete(peer.id)) logger.info({ peer }, 'the other process answers again');
  }

  return {
    /** Reads which processes live, and probes those that do not count yet. */
    async refresh(): Promise<void> {
      const peers = (await readPeers()).filter(({ id }) => id !== self);
      const living = new Set(peers.map(({ id }) => id));
      for (const id of silent) if (!living.has(id)) silent.delete(id);
      for (const id of answering.keys()) if (!living.has(id) && answering.delete(id)) chosen.clear();
      const unproven = peers.filter(({ id }) => !answering.has(id));
      await Promise.all(unproven.map((peer) => prove(peer).catch((err: unknown) => suspect(peer, err))));
      onPeers({ answering: answering.size, silent: silent.size });
    },

    /** The peer that writes a wallet; undefined where this process does. */
    of(walletId: string): Peer | undefined {
      if (answering.size === 0) return undefined;
      const best = chosen.get(walletId) ?? choose(walletId);
      return best === 'self' ? undefined : best;
    },

    isAnswering: ({ id }: Peer): boolean => answering.has(id),

    /** Leaves a peer out until it answers a probe. */
    suspect,
  };
}
export type Writers = ReturnType<typeof createWriters>;
