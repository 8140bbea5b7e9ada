import type { AuditView, LedgerFinding } from '../../../contracts/admin/wallets.ts';
import type { LedgerStore } from '../../billing/ledger-store.ts';
import type { RevocationStore } from '../../billing/revocation-store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { CheckpointStore } from './checkpoint-store.ts';
import { type Checked, createLedgerChecks, type MissingGrant } from './ledger-checks.ts';

interface Dependencies {
  store: Pick<LedgerStore, 'head' | 'page' | 'pages'>;
  revocations: Pick<RevocationStore, 'has'>;
  checkpoints: CheckpointStore;
  /** The key that seals checkpoints. */
  key: Uint8Array;
  clock: Pick<Clock, 'now'>;
}

/** Events of a page must be published within this time, in milliseconds. It usually takes seconds, with the sweep up to 30 s. */
const publishWithinMs = 60_000;

/** Audits wallets while they are in use. That is possible because pages do not change. The next audit checks newer pages. */
export function createWalletAudit({ store, revocations, checkpoints, key, clock }: Dependencies) {
  /** Returns the page that the checkpoint names (`start`), or the fault of the checkpoint. */
  async function checkCheckpoint(walletId: string): Promise<{ start?: Checked; findings: LedgerFinding[] }> {
    const checkpoint = await checkpoints.find(walletId, key);
    if (!checkpoint) return { findings: [] };
    if (checkpoint === 'forged')
      return { findings: [{ problem: "the checkpoint's seal does not match", mend: 'forgetCheckpoint' }] };
    const { n, digest, auditedAt } = checkpoint;
    const page = await store.page(walletId, n);
    if (page?.digest === digest) return { start: page, findings: [] };
    const changed = page ? 'is not the one' : 'is missing';
    return {
      findings: [
        {
          page: n,
          problem: `page ${n} ${changed} that the audit of ${auditedAt.toISOString()} saw`,
          mend: 'forgetCheckpoint',
        },
      ],
    };
  }

  /** Leaves out missing grants whose access was revoked, because an erasure revokes the access of each grant that it removes. */
  async function withoutErased(missingGrants: readonly MissingGrant[]): Promise<MissingGrant[]> {
    const revoked = await Promise.all(missingGrants.map(({ entry }) => revocations.has(entry)));
    return missingGrants.filter((_finding, index) => !revoked[index]);
  }

  return {
    /**
     * Checks the ledger of a wallet.
     * @param sinceCheckpoint whether to begin after the last page that an earlier audit found correct, instead of at page 0
     * @returns undefined if the wallet does not exist
     */
    async audit(walletId: string, { sinceCheckpoint = false } = {}): Promise<AuditView | undefined> {
      const head = await store.head(walletId);
      if (!head) return undefined;
      const checkpoint = await checkCheckpoint(walletId);
      const start = sinceCheckpoint ? checkpoint.start : undefined;
      const checks = createLedgerChecks(walletId, {
        start,
        publishedBefore: new Date(clock.now() - publishWithinMs),
      });
      const fromPage = start ? start.n + 1 : 0;
      for await (const page of store.pages(walletId, { from: fromPage, to: head.n })) checks.add(page);
      const { last, entries } = checks.result();
      const findings = [
        ...checkpoint.findings,
        ...checks.findings,
        ...(await withoutErased(checks.missingGrants)),
      ];
      if (last && findings.length === 0) {
        const { n, digest } = last;
        await checkpoints.save({ _id: walletId, n, digest, auditedAt: new Date(clock.now()) }, key);
      }
      return {
        walletId,
        fromPage,
        lastPage: last?.n ?? head.n,
        entries,
        balance: head.state.balance,
        // A finding without a page is about the checkpoint. It comes first.
        findings: findings.sort((a, b) => (a.page ?? -1) - (b.page ?? -1)),
      };
    },
  };
}
export type WalletAudit = ReturnType<typeof createWalletAudit>;
