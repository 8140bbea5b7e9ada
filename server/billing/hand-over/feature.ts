import { createPeerLink, peerRoutes } from '../../platform/http/peer-link.ts';
import type { Processes } from '../../platform/processes.ts';
import { createHandOver, type HandOverSettings } from './hand-over.ts';
import { keysOf } from './messages.ts';
import { createTakeOver } from './take-over.ts';
import { createWriters, type WriterSettings } from './writers.ts';

/** The other processes, and what is noted of them. */
export interface PeerSettings
  extends Pick<WriterSettings, 'isWriter'>,
    Pick<HandOverSettings, 'onPosting' | 'onBatch'> {
  processes: Pick<Processes, 'id' | 'peers'>;
  onPeers: WriterSettings['onRefresh'];
}

type Dependencies = PeerSettings &
  Pick<WriterSettings, 'logger'> &
  Pick<HandOverSettings, 'local' | 'store' | 'clock' | 'uptime' | 'pause'> & { idKey: Uint8Array };

/** Hand-overs of postings to the process that writes their wallet. */
export function createHandOverFeature({ processes, idKey, ...dependencies }: Dependencies) {
  const link = createPeerLink();
  const base = { ...dependencies, self: processes.id, keys: keysOf(idKey) };
  const writers = createWriters({
    ...base,
    readPeers: processes.peers,
    probe: (peer) => handOver.probe(peer),
    onRefresh: dependencies.onPeers,
  });
  const handOver = createHandOver({ ...base, writers, send: link.send, timeout: AbortSignal.timeout });
  return {
    write: handOver.write,
    refresh: writers.refresh,
    routes: peerRoutes(createTakeOver(base)),
    close: link.close,
  };
}
