import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Peer } from '../../platform/jobs/processes.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';

export interface WriterSettings {
  /** Id of this process. */
  self: string;
  /** Whether this process writes for other processes. */
  isWriter: boolean;
  /** Returns the running processes that write for others. */
  readPeers: () => Promise<readonly Peer[]>;
  /** Resolves if a peer takes postings from this process. */
  probe: (peer: Peer) => Promise<unknown>;
  onPeers: (count: { answering: number; silent: number }) => void;
  processesOfWriter?: number;
  logger: Pick<Logger, 'warn' | 'info'>;
}

/** The most wallets whose writer a process remembers. */
const mostWallets = 20_000;
/** The number of processes that share one writer. Fewer writers get larger messages and write larger pages. */
const defaultProcessesOfWriter = 4;

/** Returns the `count` processes with the highest hashes of their id and `subject` (rendezvous hashing). */
function highest(ids: readonly string[], subject: string, count: number): string[] {
  const weighed = ids.map((id) => ({ id, weight: hash('sha256', `${id} ${subject}`, 'hex') }));
  weighed.sort((a, b) => (a.weight < b.weight ? 1 : -1));
  return weighed.slice(0, count).map(({ id }) => id);
}

/** Returns the id of the process that writes a wallet. One in `processesOfWriter` of the running processes (`ids`) is a writer. */
export function writerOf(
  walletId: string,
  ids: readonly string[],
  processesOfWriter = defaultProcessesOfWriter,
): string | undefined {
  const writers = highest(ids, 'writer', Math.ceil(ids.length / processesOfWriter));
  return highest(writers, walletId, 1)[0];
}

/**
 * Chooses the writer of each wallet among the running processes. A peer can be chosen after it has answered a probe, and until it
 * fails. Two processes may choose different writers for a short time. This is harmless, because each process can write all wallets.
 */
export function createWriters(settings: WriterSettings) {
  const { self, isWriter, readPeers, probe, onPeers, logger, processesOfWriter } = settings;
  const answering = new Map<string, Peer>();
  const silent = new Set<string>();
  /** The id of the writer of each wallet. */
  const chosen = new LRUCache<string, string>({
    max: mostWallets,
    memoMethod(walletId) {
      const ids = isWriter ? [...answering.keys(), self] : [...answering.keys()];
      return writerOf(walletId, ids, processesOfWriter) ?? self;
    },
  });

  function suspect(peer: Peer, err: unknown): void {
    if (answering.delete(peer.id)) chosen.clear();
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
    /** Reads which processes are running, and probes those that have not answered yet. */
    async refresh(): Promise<void> {
      const peers = (await readPeers()).filter(({ id }) => id !== self);
      const living = new Set(peers.map(({ id }) => id));
      for (const id of silent) if (!living.has(id)) silent.delete(id);
      for (const id of answering.keys()) if (!living.has(id) && answering.delete(id)) chosen.clear();
      const unproven = peers.filter(({ id }) => !answering.has(id));
      await Promise.all(unproven.map((peer) => probeAgain(peer).catch((err: unknown) => suspect(peer, err))));
      onPeers({ answering: answering.size, silent: silent.size });
    },

    /** Returns the peer that writes a wallet; undefined if this process writes it. */
    of: (walletId: string): Peer | undefined => answering.get(chosen.memo(walletId)),

    isAnswering: ({ id }: Peer): boolean => answering.has(id),

    /** Excludes a peer until it answers a probe. */
    suspect,
  };
}
export type Writers = ReturnType<typeof createWriters>;
