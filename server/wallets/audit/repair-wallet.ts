import type { GrantStore } from '../../billing/grant-store.ts';
import type { LedgerStore } from '../../billing/ledger-store.ts';
import type { Publishing } from '../../billing/publishing.ts';
import type { RevocationStore } from '../../billing/revocation-store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { AuditEntry } from '../../platform/database/audit-entry.ts';
import type { AuditReport, WalletAudit } from './audit-wallet.ts';
import type { CheckpointStore } from './checkpoint-store.ts';
import type { Finding, Mend } from './ledger-checks.ts';

interface Dependencies {
  audit: WalletAudit;
  store: Pick<LedgerStore, 'page'>;
  grants: Pick<GrantStore, 'remove'>;
  revocations: Pick<RevocationStore, 'add'>;
  checkpoints: Pick<CheckpointStore, 'remove'>;
  publishing: Pick<Publishing, 'later' | 'drain'>;
  /** Adds entries to the audit log. Idempotent. */
  record: (entries: readonly AuditEntry[]) => Promise<void>;
  clock: Pick<Clock, 'now'>;
}

/** What a repair did, and what an audit finds afterwards. */
export interface RepairReport {
  walletId: string;
  mended: Finding[];
  /** What no repair can mend. */
  findings: Finding[];
  balance: number;
}

/** The audit log entry for a repair that follows. */
type DescribeRepair = (walletId: string, mended: readonly Finding[]) => AuditEntry;

/**
 * Mends what an audit found and what can be mended without a change to any entry, amount or digest. Entries that are missing
 * or altered stay as they are: they need another backup, or an adjustment.
 */
export function createWalletRepair(dependencies: Dependencies) {
  const { audit, store, grants, revocations, checkpoints, publishing, record, clock } = dependencies;

  const work: Readonly<Record<Mend, (walletId: string, found: readonly Finding[]) => Promise<void>>> = {
    /** Events and audit entries of pages that were not published. */
    async publish(walletId, found) {
      for (const { page = 0 } of found) {
        const unpublished = await store.page(walletId, page);
        if (unpublished) publishing.later(unpublished);
      }
      await publishing.drain();
    },

    /** Accesses whose grant is missing or altered. The access is revoked first, so that it ends in any case. */
    async endAccess(walletId, found) {
      const ids = [...new Set(found.flatMap(({ entry }) => entry ?? []))];
      await revocations.add(ids, new Date(clock.now()), 'removed grant');
      await grants.remove(walletId, ids);
    },

    /** A checkpoint that does not fit the ledger. The next audit reads the whole chain. */
    forgetCheckpoint: (walletId) => checkpoints.remove(walletId),
  };

  return {
    /** @returns undefined for a wallet that does not exist */
    async repair(walletId: string, describe: DescribeRepair): Promise<RepairReport | undefined> {
      const before = await audit.audit(walletId);
      if (!before) return undefined;
      const mended = mendable(before.findings);
      if (mended.length === 0) return reportOf(before, []);
      await record([describe(walletId, mended)]);
      for (const mend of Object.keys(work) as Mend[]) {
        const found = mended.filter((finding) => finding.mend === mend);
        if (found.length > 0) await work[mend](walletId, found);
      }
      return reportOf((await audit.audit(walletId)) ?? before, mended);
    },
  };
}
export type WalletRepair = ReturnType<typeof createWalletRepair>;

/** A checkpoint that an altered ledger does not fit is evidence: it stays while anything is left that cannot be mended. */
function mendable(findings: readonly Finding[]): Finding[] {
  const isLeft = findings.some(({ mend }) => mend === undefined);
  return findings.filter(({ mend }) => mend !== undefined && !(mend === 'forgetCheckpoint' && isLeft));
}

const reportOf = ({ walletId, findings, balance }: AuditReport, mended: Finding[]): RepairReport => ({
  walletId,
  mended,
  findings,
  balance,
});
