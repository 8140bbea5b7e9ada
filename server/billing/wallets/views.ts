import {
  type EntryDetail,
  EntryView,
  type LimitsView,
  type MovedView,
  type PricesView,
  type StatementEntry,
  type StatementView,
  type WalletReference,
  type WalletView,
} from '../../../contracts/admin/wallets.ts';
import { BillableKind, type EntryKind, type Prices, pricesAt } from '../../../contracts/charge.ts';
import { viewAs } from '../../platform/admin-api/view.ts';
import { hour, minute } from '../../platform/http/limits/windows.ts';
import { priceOf } from '../charge.ts';
import type { Head } from '../ledger/heads.ts';
import { type LedgerEntry, ownerOfWallet, walletIdOf } from '../ledger/ledger-page.ts';
import { isBillable, windowAt } from '../ledger/wallet-rules.ts';
import type { Moved } from '../manual-entries.ts';
import type { Ceilings } from './context.ts';
import type { Statement } from './statement.ts';
import { daysLeftOf } from './wallet-list.ts';

type WalletEntry = LedgerEntry & { walletId: string };

export const viewEntry = ({ memo, ...entry }: WalletEntry): EntryView =>
  viewAs(EntryView, { ...entry, ...memo, currency: 'USD' });

/** Shows an entry with the client, session and enrollment of a charge, as long as its grant is kept. */
function viewStatementEntry(entry: WalletEntry): StatementEntry {
  const { clientId = null, sessionId = null, enrollmentId = null } = entry.grant ?? {};
  return { ...viewEntry(entry), clientId, sessionId, enrollmentId };
}

/** The other account of an entry in double-entry bookkeeping, by the kind of the entry. Null if the entry moves no money. */
const counterAccounts: Readonly<Record<EntryKind, EntryDetail['counterAccount']>> = {
  token: 'revenue',
  storefront: 'revenue',
  checkbox: 'revenue',
  refund: 'revenue',
  funding: 'funding',
  adjustment: 'adjustments',
  opening: null,
  caps: null,
  fence: null,
};

/** Shows one entry with all its details. @param refund the refund of this entry, if it has one */
export function viewEntryDetail(entry: WalletEntry, refund: LedgerEntry | undefined): EntryDetail {
  const isCharge = entry.amount < 0 && isBillable(entry.kind);
  return {
    ...viewStatementEntry(entry),
    ...ownerOfWallet(entry.walletId),
    counterAccount: counterAccounts[entry.kind],
    givenBackBy: refund?.id ?? null,
    refundable: isCharge && refund === undefined,
  };
}

export function viewMoved({ entry, repeated }: Moved): MovedView {
  return { ...viewEntry(entry), repeated, balanceBefore: entry.balanceAfter - entry.amount };
}

export function viewWallet(
  { partnerId, mode }: WalletReference,
  { n, state }: Pick<Head, 'n' | 'state'>,
  spentPerDay: number,
): WalletView {
  const { balance, seq } = state;
  const daysLeft = daysLeftOf({ balance, spentPerDay });
  return { partnerId, mode, balance, currency: 'USD', spentPerDay, daysLeft, entries: seq, pages: n + 1 };
}

/** Shows the spend caps and their use. A window that has ended counts as empty. @param now milliseconds of the database's clock */
export function viewLimits(
  { partnerId, mode }: WalletReference,
  { state }: Pick<Head, 'state'>,
  { now, ceilings }: { now: number; ceilings: Ceilings | undefined },
): LimitsView {
  const used = {
    minute: windowAt(state.minute, minute, now).used,
    hour: windowAt(state.hour, hour, now).used,
  };
  return {
    partnerId,
    mode,
    ...state.caps,
    used,
    ceilingPerMinute: ceilings?.perMinute ?? null,
    ceilingPerHour: ceilings?.perHour ?? null,
  };
}

export function viewStatement({ partnerId, mode }: WalletReference, statement: Statement): StatementView {
  const { opening, closing, entries, untilSeq } = statement;
  const lastSeq = entries.at(-1)?.seq;
  const more = lastSeq !== undefined && lastSeq < untilSeq;
  return {
    partnerId,
    mode,
    currency: 'USD',
    opening,
    closing,
    entries: entries.map((entry) => viewStatementEntry({ ...entry, walletId: walletIdOf(partnerId, mode) })),
    untilSeq,
    more,
  };
}

export function viewPrices(
  partnerId: string | null,
  prices: Prices = {},
  { standard, now }: { standard: number; now: number },
): PricesView {
  const { planned = [], ...overrides } = pricesAt(prices, now);
  const price = (kind: BillableKind) => priceOf(kind, overrides, standard);
  return {
    partnerId,
    currency: 'USD',
    ...({
      token: price('token'),
      storefront: price('storefront'),
      checkbox: price('checkbox'),
    } satisfies Record<BillableKind, number>),
    overridden: BillableKind.options.filter((kind) => overrides[kind] !== undefined),
    planned: planned.map(({ from, ...price }) => ({ ...price, from: from.toISOString() })),
  };
}
