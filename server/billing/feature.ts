import { Mode } from '../../contracts/identifiers.ts';
import { type Clock, monotonicTime as uptime } from '../platform/clock.ts';
import type { Pace } from '../platform/config/pace.ts';
import type { AuditEntry } from '../platform/database/audit/audit-entry.ts';
import type { Publish } from '../platform/database/event-draft.ts';
import { createPeerLink, peerRoutes } from '../platform/http/endpoints/peer-link.ts';
import type { Processes } from '../platform/jobs/processes.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import { createAccessRemoval } from './access-removal.ts';
import { createCharges } from './charge.ts';
import { createHandOver, type HandOverSettings } from './hand-over/hand-over.ts';
import { keysOf } from './hand-over/messages.ts';
import { createTakeOver } from './hand-over/take-over.ts';
import { createWriters, type WriterSettings } from './hand-over/writers.ts';
import { createHeads } from './ledger/heads.ts';
import { type LedgerPage, walletIdOf } from './ledger/ledger-page.ts';
import { createLedgerWriter } from './ledger/ledger-writer.ts';
import { openingPage } from './ledger/page-builder.ts';
import { createManualEntries } from './manual-entries.ts';
import { createPublishing } from './publishing.ts';
import type { BillingStores } from './store.ts';

/** The other processes, and the functions that report about them. */
export interface PeerSettings
  extends Pick<WriterSettings, 'isWriter' | 'onPeers'>,
    Pick<HandOverSettings, 'onPosting' | 'onBatch'> {
  processes: Pick<Processes, 'id' | 'peers'>;
}

interface Dependencies {
  stores: BillingStores;
  clock: Clock;
  /** Derives the ids of charges and manual entries. */
  idKey: Uint8Array;
  publish: Publish;
  /** Adds entries to the audit log. Idempotent. */
  record: (entries: readonly AuditEntry[]) => Promise<void>;
  onWritten?: (page: LedgerPage) => void;
  /** Called each time another process wrote a page first. */
  onConflict?: () => void;
  /** The price of a billable event in cents, for partners without an individual price. */
  standardPrice: number;
  logger: Logger;
  pace: Pick<Pace, 'resendWithin'>;
  /** The other processes. Undefined if each process writes all wallets itself. */
  peers?: PeerSettings | undefined;
}

type Peers = PeerSettings &
  Pick<WriterSettings, 'logger'> &
  Pick<HandOverSettings, 'local' | 'store' | 'clock' | 'uptime' | 'pause'> & { idKey: Uint8Array };

/** Makes the connection to the processes that write wallets. Its `write` has the same contract as that of the ledger writer. */
function createPeers({ processes, idKey, ...dependencies }: Peers) {
  const { send, close } = createPeerLink();
  const base = { ...dependencies, self: processes.id, keys: keysOf(idKey) };
  const writers = createWriters({
    ...base,
    readPeers: processes.peers,
    // `handOver` is created below, because it needs `writers`.
    probe: (peer) => handOver.probe(peer),
  });
  const handOver = createHandOver({ ...base, writers, send, timeout: AbortSignal.timeout });
  const routes = peerRoutes(createTakeOver(base));
  return { write: handOver.write, refresh: writers.refresh, routes, close };
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Makes the feature that writes the ledgers of all wallets: charges of the billable endpoints and entries of operators. */
export function createBillingFeature(dependencies: Dependencies) {
  const { stores, clock, idKey, publish, record, standardPrice, onConflict, logger, peers } = dependencies;
  const { ledger: store, grants, revocations } = stores;
  const publishing = createPublishing({ store, publish, record, clock, logger });
  const heads = createHeads(store, uptime);
  const onWritten = (page: LedgerPage) => {
    dependencies.onWritten?.(page);
    publishing.publishInBackground(page);
  };
  const { resendWithin } = dependencies.pace;
  const base = { store, clock, uptime, pause };
  const local = createLedgerWriter({ ...base, heads, onWritten, onConflict, resendWithin });
  const handOver = peers && createPeers({ ...peers, ...base, local, idKey, logger });
  const writer = handOver ?? local;
  const removal = createAccessRemoval({ grants, revocations, clock });

  return {
    charges: createCharges({ writer, store, revocations, clock, idKey, standardPrice }),
    manualEntries: createManualEntries({ writer, store, record, idKey, timeout: AbortSignal.timeout }),
    handOver,
    publishing,
    eraseAccesses: removal.erase,
    endAccesses: removal.end,
    sweeps: [publishing.sweep, removal.retention],

    /** Clears the cached last pages. Call this when the database's primary has changed or is away. */
    forgetHeads: heads.clear,

    /** Opens both wallets of a partner. Idempotent. */
    async openWallets(partnerId: string): Promise<void> {
      const at = new Date(clock.now());
      await store.insert(Mode.options.map((mode) => openingPage(walletIdOf(partnerId, mode), at)));
    },

    /** Waits until the work in progress has ended. Call this when the process stops. */
    async drain(): Promise<void> {
      await local.drain();
      await publishing.drain();
      handOver?.close();
    },
  };
}
export type Billing = ReturnType<typeof createBillingFeature>;
