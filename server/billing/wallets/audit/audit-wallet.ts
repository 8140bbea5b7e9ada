import type { AuditView, LedgerFinding } from '../../../../contracts/admin/wallets.ts';
import { digestOf } from '../../ledger/ledger-page.ts';
import type { WalletsContext } from '../context.ts';
import {
  type Checked,
  createLedgerChecks,
  divideFindings,
  findingOf,
  type MissingGrant,
} from './ledger-checks.ts';

/** Events of a page must be published within this time, in milliseconds. It usually takes seconds, with the sweep up to 30 s. */
const publishWithinMs = 60_000;

/** Audits wallets while they are in use. That is possible because pages do not change. The next audit checks newer pages. */
export function createWalletAudit({ stores, key, clock }: Pick<WalletsContext, 'stores' | 'key' | 'clock'>) {
  const { ledger: store, revocations, checkpoints, faults } = stores;

  /** Returns the page that the checkpoint names (`start`), or the fault of the checkpoint. */
  async function checkCheckpoint(walletId: string): Promise<{ start?: Checked; findings: LedgerFinding[] }> {
    const checkpoint = await checkpoints.find(walletId, key);
    if (!checkpoint) return { findings: [] };
    if (checkpoint === 'forged')
      return {
        findings: [
          findingOf(walletId, { problem: "the checkpoint's seal does not match", mend: 'forgetCheckpoint' }),
        ],
      };
    const { n, digest, auditedAt } = checkpoint;
    const page = await store.page(walletId, n);
    if (page?.digest === digest) return { start: page, findings: [] };
    const changed = page ? 'is not the one' : 'is missing';
    return {
      findings: [
        findingOf(walletId, {
          page: n,
          problem: `page ${n} ${changed} that the audit of ${auditedAt.toISOString()} saw`,
          mend: 'forgetCheckpoint',
        }),
      ],
    };
  }

  /** Leaves out missing grants whose access was revoked, because an erasure revokes the access of each grant that it removes. */
  async function withoutErased(missingGrants: readonly MissingGrant[]): Promise<MissingGrant[]> {
    const revoked = await Promise.all(missingGrants.map(({ entry }) => revocations.has(entry)));
    return missingGrants.filter((_finding, index) => !revoked[index]);
  }

  /** Returns the page after which a check begins: the one of the checkpoint, or an earlier one. */
  async function startOf(
    walletId: string,
    checkpoint: Checked | undefined,
    atLatest: number | undefined,
  ): Promise<Checked | undefined> {
    if (checkpoint === undefined || atLatest === undefined || checkpoint.n < atLatest) return checkpoint;
    const page = atLatest === 0 ? undefined : await store.page(walletId, atLatest - 1);
    // The page's own content is not checked from here on, so it must match its digest.
    return page && digestOf(page) === page.digest ? page : undefined;
  }

  return {
    /**
     * Checks the ledger of a wallet.
     * @param sinceCheckpoint whether to begin after the last page that an earlier audit found correct, instead of at page 0
     * @param atLatest begins at this page, if that is earlier
     * @returns undefined if the wallet does not exist
     */
    async audit(
      walletId: string,
      { sinceCheckpoint = false, atLatest }: { sinceCheckpoint?: boolean; atLatest?: number } = {},
    ): Promise<AuditView | undefined> {
      const head = await store.head(walletId);
      if (!head) return undefined;
      const checkpoint = await checkCheckpoint(walletId);
      const start = sinceCheckpoint ? await startOf(walletId, checkpoint.start, atLatest) : undefined;
      const checks = createLedgerChecks(walletId, {
        start,
        publishedBefore: new Date(clock.now() - publishWithinMs),
      });
      const fromPage = start ? start.n + 1 : 0;
      for await (const page of store.pages(walletId, { from: fromPage, to: head.n })) checks.add(page);
      const { last, entries } = checks.result();
      const found = [
        ...checkpoint.findings,
        ...checks.findings,
        ...(await withoutErased(checks.missingGrants)),
      ];
      // A finding without a page is about the checkpoint. It comes first.
      found.sort((a, b) => (a.page ?? -1) - (b.page ?? -1));
      const { open: findings, acknowledged } = divideFindings(found, checks.acknowledgements);
      const auditedAt = new Date(clock.now());
      if (last && findings.length === 0) {
        const { n, digest } = last;
        await checkpoints.save({ _id: walletId, n, digest, auditedAt }, key);
      }
      await faults.save(walletId, findings.length, auditedAt);
      return {
        walletId,
        fromPage,
        lastPage: last?.n ?? head.n,
        entries,
        balance: head.state.balance,
        findings,
        acknowledged,
      };
    },
  };
}
export type WalletAudit = ReturnType<typeof createWalletAudit>;
