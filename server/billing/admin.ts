import { z } from 'zod';
import {
  AdjustWallet,
  AuditView,
  AuditWallets,
  EntryDetail,
  FindEntry,
  FundWallet,
  LimitsView,
  MovedView,
  PricesView,
  ReadStatement,
  RefundCharge,
  SetLimits,
  SetPrice,
  ShowPrices,
  StatementView,
  WalletReference,
  WalletView,
} from '../../contracts/admin/wallets.ts';
import { Mode } from '../../contracts/identifiers.ts';
import { procedure, router } from '../admin/procedures.ts';
import { type Actor, auditEntry } from '../platform/audit-entry.ts';
import type { Clock } from '../platform/clock.ts';
import { ApiError } from '../platform/errors.ts';
import { randomRequestId } from '../platform/ids.ts';
import type { Auditing } from './auditing.ts';
import { reversalIdOf } from './ledger.ts';
import type { LedgerStore } from './ledger-store.ts';
import type { Movements } from './movements.ts';
import { type PriceOverrides, viewPrices } from './prices.ts';
import { readStatement } from './statement.ts';
import { viewEntryDetail, viewLimits, viewMoved, viewStatement, viewWallet } from './views.ts';
import type { BillableKind } from './wallet-model.ts';
import { type Wallet, type WalletStore, walletIdOf } from './wallet-store.ts';

export interface BillingAdmin {
  wallets: Pick<WalletStore, 'find' | 'ids' | 'setCaps'>;
  ledger: Pick<LedgerStore, 'find' | 'page' | 'firstSeqFrom'>;
  auditing: Auditing;
  movements: Movements;
  clock: Pick<Clock, 'now'>;
  /** Configured price of a billable event in cents. */
  standardPrice: number;
  prices: {
    /** @throws ApiError not_found */
    read(partnerId: string): Promise<PriceOverrides>;
    set(
      partnerId: string,
      price: { kind: BillableKind; cents: number },
      actor: Actor,
    ): Promise<PriceOverrides>;
  };
}

/** The admin API of money: what `svcadmin wallets|limits|prices` calls. Amounts are cents. */
export function createBillingProcedures(dependencies: BillingAdmin) {
  const { wallets, ledger, auditing, movements, clock, standardPrice, prices } = dependencies;

  async function walletOf({ partnerId, mode }: WalletReference): Promise<Wallet> {
    const wallet = await wallets.find(walletIdOf(partnerId, mode));
    if (!wallet) throw new ApiError('not_found', { description: `No partner ${partnerId}` });
    return wallet;
  }

  /** Who moves the money, for the books and for the audit log. */
  function actBy(actor: Actor, target: string, after: Record<string, unknown>) {
    const audit = auditEntry(actor, { id: target, at: clock.now() }, { after });
    return { actor: actor.operatorId, audit };
  }

  const walletRouter = router({
    show: procedure
      .input(WalletReference)
      .output(WalletView)
      .query(async ({ input }) => viewWallet(input, await walletOf(input))),
    fund: procedure
      .input(FundWallet)
      .output(MovedView)
      .mutation(async ({ input: { amount, reference, ...wallet }, ctx }) => {
        const { id } = await walletOf(wallet);
        const memo = { reference, ...actBy(ctx.actor, id, { amount, reference }) };
        return viewMoved(await movements.fund(id, amount, memo));
      }),
    adjust: procedure
      .input(AdjustWallet)
      .output(MovedView)
      .mutation(async ({ input: { amount, reason, reference = randomRequestId(), ...wallet }, ctx }) => {
        const { id } = await walletOf(wallet);
        const memo = { reference, reason, ...actBy(ctx.actor, id, { amount, reference, reason }) };
        return viewMoved(await movements.adjust(id, amount, memo));
      }),
    refund: procedure
      .input(RefundCharge)
      .output(MovedView)
      .mutation(async ({ input: { entryId, reason }, ctx }) =>
        viewMoved(await movements.refund(entryId, { reason, ...actBy(ctx.actor, entryId, { reason }) })),
      ),
    entry: procedure
      .input(FindEntry)
      .output(EntryDetail)
      .query(async ({ input: { entryId } }) => {
        const [entry, reversal] = await Promise.all([entryId, reversalIdOf(entryId)].map(ledger.find));
        if (!entry) throw new ApiError('not_found', { description: `No settled ledger entry ${entryId}` });
        return viewEntryDetail(entry, reversal);
      }),
    statement: procedure
      .input(ReadStatement)
      .output(StatementView)
      .query(async ({ input: { partnerId, mode, from, to, ...page } }) => {
        const wallet = await walletOf({ partnerId, mode });
        const time = (text: string | undefined) => (text === undefined ? undefined : new Date(text));
        const statement = await readStatement(wallet, { from: time(from), to: time(to), ...page }, ledger);
        return viewStatement({ partnerId, mode }, statement);
      }),
    audit: procedure
      .input(AuditWallets)
      .output(z.array(AuditView))
      .query(async ({ input: { partnerId, ...page } }) => {
        const ids = partnerId
          ? Mode.options.map((mode) => walletIdOf(partnerId, mode))
          : await wallets.ids(page);
        const reports: AuditView[] = [];
        for (const id of ids) {
          const report = await auditing.audit(id);
          if (!report) throw new ApiError('not_found', { description: `No wallet ${id}` });
          reports.push(report);
        }
        return reports;
      }),
  });

  const limitRouter = router({
    show: procedure
      .input(WalletReference)
      .output(LimitsView)
      .query(async ({ input }) => viewLimits(input, await walletOf(input), new Date(clock.now()))),
    set: procedure
      .input(SetLimits)
      .output(LimitsView)
      .mutation(async ({ input: { perMinute, perHour, ...wallet }, ctx }) => {
        const { id, caps } = await walletOf(wallet);
        const after = {
          ...(perMinute === undefined ? {} : { perMinute }),
          ...(perHour === undefined ? {} : { perHour }),
        };
        await wallets.setCaps(id, after, {
          ...ctx.actor,
          id: `${ctx.actor.requestId}:${id}`,
          at: new Date(clock.now()),
          target: wallet.partnerId,
          before: caps,
          after,
        });
        return viewLimits(wallet, await walletOf(wallet), new Date(clock.now()));
      }),
  });

  const priceRouter = router({
    show: procedure
      .input(ShowPrices)
      .output(PricesView)
      .query(async ({ input: { partnerId } }) =>
        viewPrices(partnerId ?? null, partnerId ? await prices.read(partnerId) : {}, standardPrice),
      ),
    set: procedure
      .input(SetPrice)
      .output(PricesView)
      .mutation(async ({ input: { partnerId, ...price }, ctx }) =>
        viewPrices(partnerId, await prices.set(partnerId, price, ctx.actor), standardPrice),
      ),
  });

  return { wallets: walletRouter, limits: limitRouter, prices: priceRouter };
}
