import { z } from 'zod';
import { pageFields, Total } from '../../contracts/admin/references.ts';
import {
  AdjustWallet,
  AuditView,
  AuditWallets,
  EntryDetail,
  FindEntry,
  FundWallet,
  LimitsView,
  ListWallets,
  MovedView,
  PricesView,
  ReadStatement,
  RefundCharge,
  RepairView,
  RepairWallets,
  SetLimits,
  SetPrice,
  ShowPrices,
  SignedStatementView,
  SignStatement,
  StatementView,
  WalletListing,
  WalletReference,
  WalletView,
} from '../../contracts/admin/wallets.ts';
import type { BillableKind, Prices } from '../../contracts/charge.ts';
import { Mode } from '../../contracts/identifiers.ts';
import { type LedgerPage, refundIdOf, walletIdOf } from '../billing/ledger-page.ts';
import type { LedgerStore } from '../billing/ledger-store.ts';
import type { ManualEntries } from '../billing/manual-entries.ts';
import { procedure, router } from '../platform/admin-api/procedures.ts';
import type { Clock } from '../platform/clock.ts';
import { type Actor, auditEntry } from '../platform/database/audit-entry.ts';
import { ApiError } from '../platform/errors.ts';
import { randomRequestId } from '../platform/ids.ts';
import type { WalletAudit } from './audit/audit-wallet.ts';
import type { WalletRepair } from './audit/repair-wallet.ts';
import type { SignStatement as Sign } from './signed-statement.ts';
import { readStatement } from './statement.ts';
import { viewEntryDetail, viewLimits, viewMoved, viewPrices, viewStatement, viewWallet } from './views.ts';
import type { WalletList } from './wallet-list.ts';
import type { WalletSummaries } from './wallet-summaries.ts';

export interface WalletsAdmin {
  store: Pick<LedgerStore, 'head' | 'summary' | 'pages' | 'findEntry' | 'walletIds'>;
  audit: WalletAudit;
  repair: WalletRepair;
  manualEntries: ManualEntries;
  list: WalletList;
  summaries: Pick<WalletSummaries, 'spentPerDay'>;
  signStatement: Sign;
  clock: Pick<Clock, 'now'>;
  /** The configured price of a billable event in cents. */
  standardPrice: number;
  partners: {
    /** @throws ApiError not_found */
    show(partnerId: string): Promise<{ prices?: Prices }>;
    setPrice(
      partnerId: string,
      price: { kind: BillableKind; cents: number },
      actor: Actor,
    ): Promise<{ prices?: Prices }>;
  };
}

type Wallet = Omit<LedgerPage, 'entries'>;

/** The most entries of a signed statement. A statement with so many entries has about 4 MB. */
const mostSignedEntries = 10_000;

const timesOf = ({ from, to }: { from?: string | undefined; to?: string | undefined }) => ({
  from: from === undefined ? undefined : new Date(from),
  to: to === undefined ? undefined : new Date(to),
});

/** Makes the procedures that `svcadmin wallets`, `limits` and `prices` call. Amounts are in cents. */
export function createWalletsProcedures(dependencies: WalletsAdmin) {
  const { store, audit, repair, manualEntries, list, summaries, signStatement, clock } = dependencies;
  const { standardPrice, partners } = dependencies;

  /** Reads a wallet from the last page of its ledger. Each partner has a wallet in both modes. */
  async function walletOf({ partnerId, mode }: WalletReference): Promise<Wallet> {
    const head = await store.head(walletIdOf(partnerId, mode));
    if (!head) throw new ApiError('not_found', { description: `No partner ${partnerId}` });
    return head;
  }

  async function statementOf(wallet: WalletReference, range: Parameters<typeof readStatement>[1]) {
    return readStatement(await walletOf(wallet), range, store);
  }

  /** Makes a report on each wallet of a partner; if no partner is given, on each wallet of a page of all wallets. */
  async function reportOnEach<Report>(
    { partnerId, ...page }: z.infer<typeof RepairWallets>,
    makeReport: (walletId: string) => Promise<Report | undefined>,
  ): Promise<Report[]> {
    const ids = partnerId ? Mode.options.map((mode) => walletIdOf(partnerId, mode)) : store.walletIds(page);
    const reports: Report[] = [];
    for (const id of await ids) {
      const report = await makeReport(id);
      if (!report) throw new ApiError('not_found', { description: `No wallet ${id}` });
      reports.push(report);
    }
    return reports;
  }

  /** Returns the fields of a manual entry that name the operator, with the audit entry about the change of `target`. */
  function operatorMemo(actor: Actor, target: string, after: Record<string, unknown>) {
    const audit = auditEntry(actor, { id: target, at: clock.now() }, { after });
    return { actor: actor.operatorId, audit };
  }

  const walletRouter = router({
    list: procedure
      .input(ListWallets)
      .output(z.array(WalletListing))
      .query(({ input }) => list.list(input)),
    count: procedure
      .input(ListWallets.omit(pageFields))
      .output(Total)
      .query(({ input }) => list.count(input)),
    show: procedure
      .input(WalletReference)
      .output(WalletView)
      .query(async ({ input }) => {
        const { walletId, ...head } = await walletOf(input);
        return viewWallet(input, head, await summaries.spentPerDay(walletId));
      }),
    fund: procedure
      .input(FundWallet)
      .output(MovedView)
      .mutation(async ({ input: { amount, reference, ...wallet }, ctx }) => {
        const { walletId } = await walletOf(wallet);
        const memo = { reference, ...operatorMemo(ctx.actor, walletId, { amount, reference }) };
        return viewMoved(await manualEntries.fund(walletId, amount, memo));
      }),
    adjust: procedure
      .input(AdjustWallet)
      .output(MovedView)
      // Without a reference, each call makes an adjustment of its own.
      .mutation(async ({ input: { amount, reason, reference = randomRequestId(), ...wallet }, ctx }) => {
        const { walletId } = await walletOf(wallet);
        const memo = {
          reference,
          reason,
          ...operatorMemo(ctx.actor, walletId, { amount, reference, reason }),
        };
        return viewMoved(await manualEntries.adjust(walletId, amount, memo));
      }),
    refund: procedure
      .input(RefundCharge)
      .output(MovedView)
      .mutation(async ({ input: { entryId, reason }, ctx }) => {
        const { walletId: wallet } = await manualEntries.find(entryId);
        const operator = operatorMemo(ctx.actor, entryId, { reason, wallet });
        return viewMoved(await manualEntries.refund(entryId, { reason, ...operator }));
      }),
    entry: procedure
      .input(FindEntry)
      .output(EntryDetail)
      .query(async ({ input: { entryId } }) => {
        const entry = await manualEntries.find(entryId);
        const refund = await store.findEntry({ walletId: entry.walletId, id: refundIdOf(entryId) });
        return viewEntryDetail(entry, refund);
      }),
    statement: procedure
      .input(ReadStatement)
      .output(StatementView)
      .query(async ({ input: { partnerId, mode, from, to, ...page } }) => {
        const wallet = { partnerId, mode };
        return viewStatement(wallet, await statementOf(wallet, { ...timesOf({ from, to }), ...page }));
      }),
    signedStatement: procedure
      .input(SignStatement)
      .output(SignedStatementView)
      .query(async ({ input: { from, to, ...wallet } }) => {
        const statement = await statementOf(wallet, { ...timesOf({ from, to }), limit: mostSignedEntries });
        const view = viewStatement(wallet, statement);
        if (view.more) {
          throw new ApiError('bad_input', {
            description: `A signed statement has at most ${mostSignedEntries} entries; choose a shorter period`,
          });
        }
        return { jws: signStatement(view, statement.lastPage) };
      }),
    audit: procedure
      .input(AuditWallets)
      .output(z.array(AuditView))
      .query(({ input: { sinceCheckpoint, ...wallets } }) =>
        reportOnEach(wallets, (id) => audit.audit(id, { sinceCheckpoint })),
      ),
    repair: procedure
      .input(RepairWallets)
      .output(z.array(RepairView))
      .mutation(({ input, ctx }) =>
        reportOnEach(input, (id) =>
          repair.repair(id, (mended) =>
            auditEntry(ctx.actor, { id, at: clock.now() }, { after: { mended } }),
          ),
        ),
      ),
  });

  const limitRouter = router({
    show: procedure
      .input(WalletReference)
      .output(LimitsView)
      .query(async ({ input }) => viewLimits(input, await walletOf(input), clock.now())),
    set: procedure
      .input(SetLimits)
      .output(LimitsView)
      .mutation(async ({ input: { perMinute, perHour, ...wallet }, ctx }) => {
        const { walletId, state } = await walletOf(wallet);
        const changed = {
          ...(perMinute === undefined ? {} : { perMinute }),
          ...(perHour === undefined ? {} : { perHour }),
        };
        const target = { id: walletId, at: clock.now() };
        await manualEntries.setCaps(
          walletId,
          changed,
          auditEntry(ctx.actor, target, { before: state.caps, after: changed }),
        );
        return viewLimits(wallet, await walletOf(wallet), clock.now());
      }),
  });

  const priceRouter = router({
    show: procedure
      .input(ShowPrices)
      .output(PricesView)
      .query(async ({ input: { partnerId } }) => {
        const { prices } = partnerId ? await partners.show(partnerId) : {};
        return viewPrices(partnerId ?? null, prices, standardPrice);
      }),
    set: procedure
      .input(SetPrice)
      .output(PricesView)
      .mutation(async ({ input: { partnerId, ...price }, ctx }) => {
        const { prices } = await partners.setPrice(partnerId, price, ctx.actor);
        return viewPrices(partnerId, prices, standardPrice);
      }),
  });

  return { wallets: walletRouter, limits: limitRouter, prices: priceRouter };
}
