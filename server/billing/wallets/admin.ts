import { z } from 'zod';
import { pageFields, Total } from '../../../contracts/admin/references.ts';
import {
  AdjustWallet,
  AuditView,
  AuditWallets,
  EntryDetail,
  FindEntry,
  FundWallet,
  ListWallets,
  MovedView,
  PricesView,
  ReadStatement,
  ReadUsage,
  RefillWallet,
  RefundCharge,
  RepairView,
  RepairWallets,
  SetPrice,
  ShowPrices,
  SignedStatementView,
  SignStatement,
  StatementView,
  UsageView,
  WalletListing,
  WalletReference,
  WalletView,
} from '../../../contracts/admin/wallets.ts';
import { Mode } from '../../../contracts/identifiers.ts';
import { mutation, query, router } from '../../platform/admin-api/procedures.ts';
import { type Actor, auditEntry } from '../../platform/database/audit/audit-entry.ts';
import { endDryRun } from '../../platform/database/audit/dry-run.ts';
import { ApiError, requireFound } from '../../platform/errors.ts';
import { randomRequestId } from '../../platform/ids.ts';
import { type LedgerPage, refundIdOf, walletIdOf } from '../ledger/ledger-page.ts';
import { collection as ledgerCollection } from '../ledger/ledger-store.ts';
import type { WalletAudit } from './audit/audit-wallet.ts';
import type { WalletRepair } from './audit/repair-wallet.ts';
import type { WalletsContext } from './context.ts';
import { createLimitProcedures } from './limits/admin-limits.ts';
import { refill } from './refill.ts';
import { createStatementSigner } from './signed-statement.ts';
import { readStatement, readStatementParts, type Statement } from './statement.ts';
import { readUsage } from './usage.ts';
import { viewEntryDetail, viewMoved, viewPrices, viewStatement, viewWallet } from './views.ts';
import { readWalletIds, unknownPartner, type WalletList } from './wallet-list.ts';
import type { WalletSummaries } from './wallet-summaries.ts';

const ledgerMutation = mutation({ target: 'wallet', record: ledgerCollection });
const partnerMutation = mutation({ target: 'partnerId', record: 'several' });
const refillMutation = mutation({ target: 'partnerId', record: ledgerCollection });
const entryMutation = mutation({ target: 'entryId', record: ledgerCollection });

interface Parts {
  audit: WalletAudit;
  repair: WalletRepair;
  list: WalletList;
  summaries: WalletSummaries;
}

type Wallet = Omit<LedgerPage, 'entries'>;

/** The entries of a signed statement that are made in one turn of the event loop. */
const entriesPerPart = 500;

const timesOf = ({ from, to }: { from?: string | undefined; to?: string | undefined }) => ({
  from: from === undefined ? undefined : new Date(from),
  to: to === undefined ? undefined : new Date(to),
});

/** Makes the procedures that `svcadmin wallets`, `limits` and `prices` call. Amounts are in cents. */
export function createWalletsProcedures(context: WalletsContext, { audit, repair, list, summaries }: Parts) {
  const { clock, standardPrice, partners } = context;
  const { ledger: store } = context.stores;
  const { manualEntries } = context.billing;
  const signStatement = createStatementSigner(context);

  /** Reads a wallet from the last page of its ledger. Each partner has a wallet in both modes. */
  async function walletOf({ partnerId, mode }: WalletReference): Promise<Wallet> {
    const walletId = walletIdOf(partnerId, mode);
    const head = await store.head(walletId);
    if (!head) throw unknownPartner(walletId);
    return head;
  }

  async function statementOf(wallet: WalletReference, range: Parameters<typeof readStatement>[1]) {
    return readStatement(await walletOf(wallet), range, store);
  }

  /** Makes a report on each wallet of a partner; if no partner is given, on each wallet of a page of all wallets. */
  async function reportOnEach<Report>(
    { partnerId, ...page }: Omit<z.infer<typeof RepairWallets>, 'dryRun'>,
    makeReport: (walletId: string) => Promise<Report | undefined>,
  ): Promise<Report[]> {
    const ids = partnerId
      ? Mode.options.map((mode) => walletIdOf(partnerId, mode))
      : readWalletIds(store, page);
    const reports: Report[] = [];
    for (const id of await ids) {
      const report = await makeReport(id);
      if (!report) throw unknownPartner(id);
      reports.push(report);
    }
    return reports;
  }

  /** Returns the fields of a manual entry that name the operator, with the audit entry about the change of `target`. */
  function operatorMemo(actor: Actor, target: string, after: Record<string, unknown>) {
    const audit = auditEntry(actor, { id: target, at: clock.now() }, { after });
    return { actor: actor.operatorId, audit };
  }

  /** Requires that an audit finds each of these faults, and that no repair mends it. @throws ApiError `not_found`, `refused` */
  async function requireFindings(walletId: string, ids: readonly string[]): Promise<void> {
    const { findings = [], acknowledged = [] } = (await audit.audit(walletId)) ?? {};
    for (const id of ids) {
      const finding = requireFound(
        [...findings, ...acknowledged].find((one) => one.id === id),
        `The audit of ${walletId} has no finding ${id}: see svcadmin wallets audit`,
      );
      if (finding.mend)
        throw new ApiError('refused', {
          description: `${id} needs no adjustment, because svcadmin wallets repair mends it`,
        });
    }
  }

  /**
   * Requires that the ledger adds up, in the whole period and from the last checkpoint on. An acknowledged fault in the period
   * stays a fault of the period. @throws ApiError `refused`
   */
  async function requireSound(
    walletId: string,
    { firstPage, lastPage }: Pick<Statement, 'firstPage' | 'lastPage'>,
  ): Promise<void> {
    const report = await audit.audit(walletId, { sinceCheckpoint: true, atLatest: firstPage });
    const { findings = [], acknowledged = [] } = report ?? {};
    const inPeriod = acknowledged.filter(({ page = -1 }) => page >= firstPage && page <= lastPage.n);
    // Unpublished events and missing grants change no amount.
    const [fault] = [
      ...findings.filter(({ mend }) => mend !== 'publish' && mend !== 'endAccess'),
      ...inPeriod,
    ];
    if (!fault) return;
    throw new ApiError('refused', {
      description: `A statement is signed only where the ledger adds up; ${walletId} has ${fault.id}: ${fault.problem}`,
    });
  }

  const walletRouter = router({
    list: query(ListWallets, z.array(WalletListing), (input) => list.list(input)),
    count: query(ListWallets.omit(pageFields), Total, (input) => list.count(input)),
    show: query(WalletReference, WalletView, async (wallet) => {
      const { walletId, ...head } = await walletOf(wallet);
      return viewWallet(wallet, head, await summaries.spentPerDay(walletId));
    }),
    fund: ledgerMutation(FundWallet, MovedView, async ({ amount, reference, ...wallet }, actor) => {
      const { walletId } = await walletOf(wallet);
      const memo = { reference, ...operatorMemo(actor, walletId, { amount, reference }) };
      return viewMoved(await manualEntries.fund(walletId, amount, memo));
    }),
    /** Fills the test wallet, for members who have no way to pay in. */
    refill: refillMutation(RefillWallet, MovedView, async ({ partnerId }, actor) => {
      const wallet = { partnerId, mode: 'test' as const };
      const { walletId } = await walletOf(wallet);
      return viewMoved(
        await refill({
          readBalance: async () => (await walletOf(wallet)).state.balance,
          fund: (amount, reference) =>
            manualEntries.fund(walletId, amount, {
              reference,
              ...operatorMemo(actor, walletId, { amount, reference }),
            }),
          now: clock.now(),
        }),
      );
    }),
    // Without a reference, each call makes an adjustment of its own.
    adjust: ledgerMutation(
      AdjustWallet,
      MovedView,
      async ({ amount, reason, reference = randomRequestId(), acknowledges, ...wallet }, actor) => {
        const { walletId } = await walletOf(wallet);
        if (acknowledges) await requireFindings(walletId, acknowledges);
        const named = acknowledges && { acknowledges };
        const operator = operatorMemo(actor, walletId, { amount, reference, reason, ...named });
        const memo = { reference, reason, ...named, ...operator };
        return viewMoved(await manualEntries.adjust(walletId, amount, memo));
      },
    ),
    refund: entryMutation(RefundCharge, MovedView, async ({ entryId, reason }, actor) => {
      const { walletId: wallet } = await manualEntries.find(entryId);
      const operator = operatorMemo(actor, entryId, { reason, wallet });
      return viewMoved(await manualEntries.refund(entryId, { reason, ...operator }));
    }),
    entry: query(FindEntry, EntryDetail, async ({ entryId }) => {
      const entry = await manualEntries.find(entryId);
      const refund = await store.findEntry({ walletId: entry.walletId, id: refundIdOf(entryId) });
      return viewEntryDetail(entry, refund);
    }),
    statement: query(ReadStatement, StatementView, async ({ partnerId, mode, from, to, ...page }) => {
      const wallet = { partnerId, mode };
      return viewStatement(wallet, await statementOf(wallet, { ...timesOf({ from, to }), ...page }));
    }),
    usage: query(ReadUsage, UsageView, async ({ days, ...wallet }) =>
      readUsage(await walletOf(wallet), { days, now: clock.now() }, store),
    ),
    signedStatement: query(SignStatement, SignedStatementView, async ({ from, to, timezone, ...wallet }) => {
      const found = await walletOf(wallet);
      const range = { ...timesOf({ from, to }), limit: entriesPerPart };
      const parts = readStatementParts(found, range, store);
      const { jws, ...pages } = await signStatement(wallet, parts, { from, to, timezone });
      await requireSound(found.walletId, pages);
      return { jws };
    }),
    audit: query(AuditWallets, z.array(AuditView), ({ sinceCheckpoint, ...wallets }) =>
      reportOnEach(wallets, (id) => audit.audit(id, { sinceCheckpoint })),
    ),
    repair: partnerMutation(RepairWallets, z.array(RepairView), async ({ dryRun, ...wallets }, actor) => {
      const { partnerId } = wallets;
      if (partnerId) await walletOf({ partnerId, mode: 'live' });
      if (!dryRun) endDryRun(actor);
      return reportOnEach(wallets, (id) =>
        dryRun
          ? repair.plan(id)
          : repair.repair(id, (mended) => auditEntry(actor, { id, at: clock.now() }, { after: { mended } })),
      );
    }),
  });

  const priceRouter = router({
    show: query(ShowPrices, PricesView, async ({ partnerId }) => {
      const { prices } = partnerId ? await partners.show(partnerId) : {};
      return viewPrices(partnerId ?? null, prices, { standard: standardPrice, now: clock.now() });
    }),
    set: partnerMutation(SetPrice, PricesView, async ({ partnerId, from, ...price }, actor) => {
      const at = from === undefined ? undefined : new Date(from);
      const { prices } = await partners.setPrice(partnerId, { ...price, from: at }, actor);
      return viewPrices(partnerId, prices, { standard: standardPrice, now: clock.now() });
    }),
  });

  return {
    wallets: walletRouter,
    limits: createLimitProcedures(context, walletOf),
    prices: priceRouter,
  };
}
