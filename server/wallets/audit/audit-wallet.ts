import type { LedgerStore } from '../../billing/ledger-store.ts';
import type { RevocationStore } from '../../billing/revocation-store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { CheckpointStore } from './checkpoint-store.ts';
import { type Checked, createLedgerChecks, type Finding } from './ledger-checks.ts';

interface Dependencies {
  store: Pick<LedgerStore, 'head' | 'page' | 'pages'>;
  revocations: Pick<RevocationStore, 'has'>;
  checkpoints: CheckpointStore;
  /** Seals checkpoints. */
  key: Uint8Array;
  clock: Pick<Clock, 'now'>;
}

/** The result of the audit of one wallet. A ledger without findings is consistent. */
export interface AuditReport {
  walletId: string;
  /** The first page and the last page that were checked. */
  fromPage: number;
  lastPage: number;
  /** The number of entries that were checked. */
  entries: number;
  balance: number;
  findings: Finding[];
}

/** A page must be published within this time, in milliseconds. Normally it takes seconds, or up to 30 s by the sweep. */
const publishedWithin = 60_000;

/** Audits wallets while they are in use. Pages do not change, and new pages are left to the next audit. */
export function createWalletAudit({ store, revocations, checkpoints, key, clock }: Dependencies) {
  /** Returns the page that the checkpoint names, or the fault of the checkpoint. */
  async function checkpointOf(walletId: string): Promise<{ start?: Checked; findings: Finding[] }> {
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

  /**
   * Returns the findings about missing grants whose access was not revoked. An erasure revokes the access of each removed
   * grant.
   */
  async function unexplained(missing: readonly Finding[]): Promise<Finding[]> {
    const revoked = await Promise.all(missing.map(({ entry = '' }) => revocations.has(entry)));
    return missing.filter((_, n) => !revoked[n]);
  }

  return {
    /**
     * Checks the ledger of a wallet.
     * @param sinceCheckpoint whether to begin after the last page that an earlier audit found correct, instead of at page 0
     * @returns undefined if the wallet does not exist
     */
    async audit(walletId: string, { sinceCheckpoint = false } = {}): Promise<AuditReport | undefined> {
      const head = await store.head(walletId);
      if (!head) return undefined;
      const known = await checkpointOf(walletId);
      const start = sinceCheckpoint ? known.start : undefined;
      const checks = createLedgerChecks(walletId, { start, late: new Date(clock.now() - publishedWithin) });
      const fromPage = start ? start.n + 1 : 0;
      for await (const page of store.pages(walletId, { from: fromPage, to: head.n })) checks.add(page);
      const { last, entries } = checks.result();
      const findings = [...known.findings, ...checks.findings, ...(await unexplained(checks.withoutGrant))];
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
        findings: findings.sort((a, b) => (a.page ?? -1) - (b.page ?? -1)),
      };
    },
  };
}
export type WalletAudit = ReturnType<typeof createWalletAudit>;
