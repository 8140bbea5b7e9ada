import { LimitsView, SetLimits, WalletReference } from '../../../../contracts/admin/wallets.ts';
import { mutation, query, router } from '../../../platform/admin-api/procedures.ts';
import { auditEntry } from '../../../platform/database/audit/audit-entry.ts';
import { endDryRun } from '../../../platform/database/audit/dry-run.ts';
import type { LedgerPage } from '../../ledger/ledger-page.ts';
import { collection as ledgerCollection } from '../../ledger/ledger-store.ts';
import type { Ceilings, WalletsContext } from '../context.ts';
import { viewLimits } from '../views.ts';
import { cappedBy } from './ceilings.ts';

const ledgerMutation = mutation({ target: 'wallet', record: ledgerCollection });

/**
 * Makes the procedures that `svcadmin limits` calls.
 * @param walletOf reads the head of a wallet. It throws ApiError `not_found`
 */
export function createLimitProcedures(
  { billing, clock, partners }: WalletsContext,
  walletOf: (wallet: WalletReference) => Promise<Omit<LedgerPage, 'entries'>>,
) {
  const { manualEntries } = billing;

  async function limitsOf(wallet: WalletReference): Promise<LimitsView> {
    const { ceilings } = await partners.show(wallet.partnerId);
    return viewLimits(wallet, await walletOf(wallet), {
      now: clock.now(),
      ceilings: ceilings?.[wallet.mode],
    });
  }

  /** The ceilings of a wallet with those that an operator has given. `isGiven`: whether there is one. */
  async function wantedCeilings(
    wallet: WalletReference,
    { ceilingPerMinute, ceilingPerHour }: Pick<SetLimits, 'ceilingPerMinute' | 'ceilingPerHour'>,
  ): Promise<{ ceilings: Ceilings; isGiven: boolean }> {
    const { ceilings } = await partners.show(wallet.partnerId);
    const present = ceilings?.[wallet.mode] ?? {};
    const chosen = (wanted: number | null | undefined, old: number | undefined) =>
      wanted === undefined ? old : (wanted ?? undefined);
    return {
      ceilings: {
        perMinute: chosen(ceilingPerMinute, present.perMinute),
        perHour: chosen(ceilingPerHour, present.perHour),
      },
      isGiven: ceilingPerMinute !== undefined || ceilingPerHour !== undefined,
    };
  }

  return router({
    show: query(WalletReference, LimitsView, limitsOf),
    /** Sets spend caps. Members cannot exceed the ceilings, which operators set; a new ceiling lowers a higher cap. */
    set: ledgerMutation(SetLimits, LimitsView, async ({ partnerId, mode, ...wanted }, actor) => {
      const wallet = { partnerId, mode };
      const { walletId, state } = await walletOf(wallet);
      const { ceilings, isGiven } = await wantedCeilings(wallet, wanted);
      const caps = cappedBy(ceilings, {
        wanted,
        present: state.caps,
        isMember: actor.partnerId !== undefined,
      });
      endDryRun(actor, { changes: isGiven || Object.keys(caps).length > 0 });
      if (isGiven) await partners.setCeilings(wallet, ceilings, actor);
      if (Object.keys(caps).length === 0) return limitsOf(wallet);
      const target = { id: walletId, at: clock.now() };
      await manualEntries.setCaps(
        walletId,
        caps,
        auditEntry(actor, target, { before: state.caps, after: caps }),
      );
      return limitsOf(wallet);
    }),
  });
}
