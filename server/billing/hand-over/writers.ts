import { LRUCache } from 'lru-cache';
import { atMost } from '../../platform/batching/cache-size.ts';
import type { Peer } from '../../platform/jobs/processes.ts';
import { highestHashes } from '../../platform/jobs/rendezvous-hash.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';

export interface WriterSettings {
  self: string;
  isWriter: boolean;
  /** Returns the running processes that write for others. */
  readPeers: () => Promise<readonly Peer[]>;
  /** Resolves if a peer takes postings from this process. */
  probe: (peer: Peer) => Promise<unknown>;
  /** Called after each refresh. `silent` is the number of other processes that run but do not answer. */
  onPeers: (count: { answering: number; silent: number }) => void;
  /** How many processes share one writer. A higher number costs less per posting: messages and pages hold more postings. */
  processesPerWriter?: number;
  logger: Pick<Logger, 'warn' | 'info'>;
}

const mostWallets = 20_000;
const defaultProcessesPerWriter = 4;

/**
 * Returns the id of the process that writes a wallet. First, one in `processesPerWriter` of the running processes (`ids`) is chosen as
 * a writer. Then one of the writers is chosen for the wallet. Hashes decide, so all processes choose the same (rendezvous hashing).
 */
export function writerOf(
  walletId: string,
  ids: readonly string[],
  processesPerWriter = defaultProcessesPerWriter,
): string | undefined {
  const writers = highestHashes(ids, 'writer', Math.ceil(ids.length / processesPerWriter));
  return highestHashes(writers, walletId, 1)[0];
}

/**
 * Chooses the writer of each wallet among the running processes. A peer can be chosen after it has answered a probe, and until it
 * fails. Two processes may choose different writers for a short time. This is harmless, because each process can write all wallets.
 */
export function createWriters(settings: WriterSettings) {
  const { self, isWriter, readPeers, probe, onPeers, logger, processesPerWriter } = settings;
  const answering = new Map<string, Peer>();
  const silent = new Set<string>();
  /** The id of the writer of each wallet. It is chosen among the `answering` processes, so each change of them clears this cache. */
  const chosen = new LRUCache<string, string>({
    ...atMost(mostWallets),
    memoMethod(walletId) {
      const ids = isWriter ? [...answering.keys(), self] : [...answering.keys()];
      // If there is no writer, this process writes the wallet itself.
      return writerOf(walletId, ids, processesPerWriter) ?? self;
    },
  });

  const exclude = (id: string) => {
    if (answering.delete(id)) chosen.clear();
  };

  function suspect(peer: Peer, err: unknown): void {
    exclude(peer.id);
    if (!silent.has(peer.id))
      logger.warn({ err, peer }, 'no process answers at the private address of another');
    silent.add(peer.id);
  }

  async function probeAgain(peer: Peer): Promise<void> {
    await probe(peer);
    answering.set(peer.id, peer);
    chosen.clear();
    if (silent.delete(peer.id)) logger.info({ peer }, 'the other process answers again');
  }

  return {
    /** Reads which processes are running, and probes those that have not answered yet. @returns the number of other processes */
    async refresh(): Promise<number> {
      const peers = (await readPeers()).filter(({ id }) => id !== self);
      const living = new Set(peers.map(({ id }) => id));
      for (const id of silent) if (!living.has(id)) silent.delete(id);
      for (const id of answering.keys()) if (!living.has(id)) exclude(id);
      const untested = peers.filter(({ id }) => !answering.has(id));
      await Promise.all(untested.map((peer) => probeAgain(peer).catch((err: unknown) => suspect(peer, err))));
      onPeers({ answering: answering.size, silent: silent.size });
      return peers.length;
    },

    /** Returns the peer that writes a wallet; undefined if this process writes it. */
    of: (walletId: string): Peer | undefined => answering.get(chosen.memo(walletId)),

    isAnswering: ({ id }: Peer): boolean => answering.has(id),

    /** Excludes a peer until it answers a probe. */
    suspect,
  };
}
export type Writers = ReturnType<typeof createWriters>;
