import { Mode } from '../../contracts/identifiers.ts';
import type { AuditEntry } from '../platform/audit-entry.ts';
import type { Clock } from '../platform/clock.ts';
import type { Publish } from '../platform/event-draft.ts';
import type { Logger } from '../platform/logging.ts';
import { createAccessRemoval } from './access-removal.ts';
import { type BillingAdmin, createBillingProcedures } from './admin.ts';
import { createWalletAudit } from './audit/audit-wallet.ts';
import { createWalletRepair } from './audit/repair-wallet.ts';
import { createCharges } from './charge.ts';
import { createHeads } from './heads.ts';
import { type LedgerPage, walletIdOf } from './ledger-page.ts';
import { createLedgerWriter } from './ledger-writer.ts';
import { createManualEntries } from './manual-entries.ts';
import { openingPage } from './page-builder.ts';
import { createPublishing } from './publishing.ts';
import type { SignStatement } from './signed-statement.ts';
import type { BillingStores } from './store.ts';
import { createWalletList } from './wallet-list.ts';
import { createWalletSummaries } from './wallet-summaries.ts';

interface Dependencies extends Pick<BillingAdmin, 'prices' | 'standardPrice'> {
  stores: BillingStores;
  clock: Clock;
  /** Derives the ids of charges and manual entries. */
  idKey: Uint8Array;
  publish: Publish;
  /** Adds entries to the audit log. Idempotent. */
  record: (entries: readonly AuditEntry[]) => Promise<void>;
  signStatement: SignStatement;
  /** Called with the number of entries of each page that was written. */
  written?: (entries: number) => void;
  /** What partners are called, by their ids. */
  partnerNames: (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  logger: Logger;
}

const uptime = () => performance.now();
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Wallets, the charges of the three billable endpoints, and what support does with money. */
export function createBillingFeature(dependencies: Dependencies) {
  const { stores, clock, idKey, publish, record, signStatement, logger, prices, standardPrice } =
    dependencies;
  const { partnerNames } = dependencies;
  const { ledger: store, grants, revocations, checkpoints, use } = stores;
  const summaries = createWalletSummaries({ store: stores.summaries, ledger: store, use, clock });
  const publishing = createPublishing({ store, publish, record, clock, logger });
  const heads = createHeads(store, uptime);
  const onWritten = (page: LedgerPage) => {
    dependencies.written?.(page.entries.length);
    summaries.touch(page.walletId);
    publishing.later(page);
  };
  const writer = createLedgerWriter({ store, heads, clock, onWritten, uptime, pause });
  const charges = createCharges({ writer, store, revocations, clock, idKey });
  const manualEntries = createManualEntries({ writer, store, idKey, uptime });
  const removal = createAccessRemoval({ grants, revocations, clock });
  const audit = createWalletAudit({
    store,
    revocations,
    checkpoints,
    key: idKey,
    clock,
  });

  const repair = createWalletRepair({
    audit,
    store,
    grants,
    revocations,
    checkpoints,
    publishing,
    record,
    clock,
  });

  return {
    charges,
    eraseAccesses: removal.erase,
    procedures: createBillingProcedures({
      store,
      audit,
      repair,
      manualEntries,
      listWallets: createWalletList({
        store: stores.summaries,
        ledger: store,
        summaries,
        clock,
        partnerNames,
      }),
      signStatement,
      clock,
      prices,
      standardPrice,
    }),
    sweeps: [publishing.sweep, removal.retention, summaries.sweep],

    /** Call this when the database's primary has changed or is away. */
    forgetHeads: heads.clear,

    /** Opens both wallets of a partner. Idempotent. */
    async openWallets(partnerId: string): Promise<void> {
      const at = new Date(clock.now());
      const pages = Mode.options.map((mode) => openingPage(walletIdOf(partnerId, mode), at));
      await store.insert(pages);
      for (const { walletId } of pages) summaries.touch(walletId);
    },

    /** Finishes the work under way, for a graceful stop. */
    async drain(): Promise<void> {
      await writer.drain();
      await publishing.drain();
      // Another process reads them again in turn where this fails.
      await summaries.flush().catch(() => undefined);
    },
  };
}
