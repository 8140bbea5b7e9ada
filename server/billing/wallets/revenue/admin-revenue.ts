import {
  type ReadRevenue,
  Revenue,
  ReadRevenue as RevenueQuery,
} from '../../../../contracts/admin/revenue.ts';
import { Mode } from '../../../../contracts/identifiers.ts';
import { query, router } from '../../../platform/admin-api/procedures.ts';
import { withPartnerName } from '../../../platform/database/partner-names.ts';
import { opposite, ownerOfWallet, walletIdOf } from '../../ledger/ledger-page.ts';
import type { WalletsContext } from '../context.ts';
import { findFirstPage } from '../statement.ts';
import { readWalletIds, unknownPartner } from '../wallet-list.ts';

/** Makes the procedure of `svcadmin revenue`. Amounts are in cents. */
export function createRevenueProcedures({ stores, partnerNames }: WalletsContext) {
  const { ledger, revenue } = stores;

  /** Returns the sums of a wallet in a period by month and kind. @throws ApiError `not_found` for an unknown partner */
  async function monthsOf(walletId: string, from: Date, to: Date | undefined) {
    const head = await ledger.head(walletId);
    if (!head) throw unknownPartner(walletId);
    // Most wallets of an installation have no entries in the period, or none after it.
    if (head.at < from) return [];
    const first = await findFirstPage(head, ledger, ({ at }) => at >= from);
    const beyond = to && head.at >= to ? await findFirstPage(head, ledger, ({ at }) => at >= to) : head.n + 1;
    return revenue.months(walletId, { from: first, to: beyond - 1 });
  }

  /** Returns the wallets of one page, in the order of their ids. */
  async function walletsOf({ partnerId, mode, limit, after }: ReadRevenue): Promise<string[]> {
    if (partnerId === undefined) return readWalletIds(ledger, { limit, after, mode });
    return after === undefined
      ? Mode.options
          .filter((one) => mode === undefined || one === mode)
          .map((one) => walletIdOf(partnerId, one))
      : [];
  }

  const show = query(RevenueQuery, Revenue, async (wanted) => {
    const ids = await walletsOf(wanted);
    const to = wanted.to === undefined ? undefined : new Date(wanted.to);
    const rows = [];
    for (const id of ids)
      for (const { moved, ...sum } of await monthsOf(id, new Date(wanted.from), to))
        rows.push({ id, ...ownerOfWallet(id), ...sum, amount: opposite(moved) });
    const isLastPage = wanted.partnerId !== undefined || ids.length < wanted.limit;
    return {
      rows: await withPartnerName(rows, partnerNames),
      stoppedAfter: isLastPage ? null : (ids.at(-1) ?? null),
    };
  });
  return router({ show });
}
