import type { AuditView, LedgerFinding, RepairView } from '../../../../contracts/admin/wallets.ts';
import type { AuditEntry } from '../../../platform/database/audit/audit-entry.ts';
import type { WalletsContext } from '../context.ts';
import type { WalletAudit } from './audit-wallet.ts';

type Mend = NonNullable<LedgerFinding['mend']>;
type Repair = (walletId: string, found: readonly LedgerFinding[]) => Promise<void>;

/** Returns the audit log entry of a repair. It is recorded before the repair is made. */
type DescribeRepair = (mended: readonly LedgerFinding[]) => AuditEntry;

/**
 * Mends the findings of an audit that need no change of an entry, an amount or a digest. Missing or altered entries are not
 * mended. They need another backup or an adjustment.
 */
export function createWalletRepair({ stores, billing, record, clock }: WalletsContext, audit: WalletAudit) {
  const { ledger: store, grants, revocations, checkpoints } = stores;
  const { publishing } = billing;

  const repairs: Readonly<Record<Mend, Repair>> = {
    /** Publishes the events and audit entries of pages that were not published. */
    async publish(walletId, found) {
      for (const { page = 0 } of found) {
        const unpublished = await store.page(walletId, page);
        if (unpublished) publishing.publishInBackground(unpublished);
      }
      // A failure is only logged here. The audit after the repair then finds the page again.
      await publishing.drain();
    },

    /** Ends accesses whose grant is missing or altered. They are revoked first, so that they end even if the removal fails. */
    async endAccess(walletId, found) {
      const ids = [...new Set(found.flatMap(({ entry }) => entry ?? []))];
      await revocations.add(ids, new Date(clock.now()), 'removed grant');
      await grants.remove(walletId, ids);
    },

    /** Removes a checkpoint that does not match the ledger. The next audit then reads all pages. */
    forgetCheckpoint: (walletId) => checkpoints.remove(walletId),
  };

  return {
    /** Audits a wallet. @returns what a repair would mend and leave; undefined if the wallet does not exist */
    async plan(walletId: string): Promise<RepairView | undefined> {
      const report = await audit.audit(walletId);
      if (!report) return undefined;
      const mendable = findMendable(report.findings);
      const left = report.findings.filter((finding) => !mendable.includes(finding));
      return reportOf({ ...report, findings: left }, mendable);
    },

    /** Audits a wallet, mends the findings and audits it again. @returns undefined if the wallet does not exist */
    async repair(walletId: string, describe: DescribeRepair): Promise<RepairView | undefined> {
      const before = await audit.audit(walletId);
      if (!before) return undefined;
      const mended = findMendable(before.findings);
      if (mended.length === 0) return reportOf(before, []);
      await record([describe(mended)]);
      for (const mend of Object.keys(repairs) as Mend[]) {
        const found = mended.filter((finding) => finding.mend === mend);
        if (found.length > 0) await repairs[mend](walletId, found);
      }
      return reportOf((await audit.audit(walletId)) ?? before, mended);
    },
  };
}
export type WalletRepair = ReturnType<typeof createWalletRepair>;

/** Returns the findings that can be mended. A wrong checkpoint is evidence, so it is kept if any other finding cannot be mended. */
function findMendable(findings: readonly LedgerFinding[]): LedgerFinding[] {
  const hasUnmendable = findings.some(({ mend }) => mend === undefined);
  return findings.filter(({ mend }) => mend !== undefined && !(mend === 'forgetCheckpoint' && hasUnmendable));
}

const reportOf = ({ walletId, findings, balance }: AuditView, mended: LedgerFinding[]): RepairView => ({
  walletId,
  mended,
  findings,
  balance,
});
