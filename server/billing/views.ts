import type {
  EntryDetail,
  EntryView,
  LimitsView,
  MovedView,
  StatementView,
  WalletReference,
  WalletView,
} from '../../contracts/admin/wallets.ts';
import { Mode } from '../../contracts/identifiers.ts';
import { hour, minute } from '../platform/windows.ts';
import type { LedgerEntry } from './ledger.ts';
import type { Moved } from './movements.ts';
import type { Statement } from './statement.ts';
import { isBillable, windowAt } from './wallet-model.ts';
import type { Wallet } from './wallet-store.ts';

export function viewEntry({
  _id,
  walletId,
  seq,
  kind,
  amount,
  balanceAfter,
  at,
  memo,
}: LedgerEntry): EntryView {
  return {
    id: _id,
    walletId,
    seq,
    kind,
    amount,
    balanceAfter,
    currency: 'USD',
    at: at.toISOString(),
    reference: memo?.reference ?? null,
    reason: memo?.reason ?? null,
    actor: memo?.actor ?? null,
    of: memo?.of ?? null,
  };
}

/** @param reversal the refund or reversal of this entry, where there is one */
export function viewEntryDetail(entry: LedgerEntry, reversal: LedgerEntry | undefined): EntryDetail {
  const [partnerId = '', mode] = entry.walletId.split(':');
  const isCharge = entry.amount < 0 && isBillable(entry.kind);
  return {
    ...viewEntry(entry),
    partnerId,
    mode: Mode.parse(mode),
    givenBackBy: reversal?._id ?? null,
    refundable: isCharge && reversal === undefined,
  };
}

export function viewMoved({ entry, repeated }: Moved): MovedView {
  return { ...viewEntry(entry), repeated, balanceBefore: entry.balanceAfter - entry.amount };
}

export function viewWallet({ partnerId, mode }: WalletReference, wallet: Wallet): WalletView {
  const { balance, currency, holds, seq } = wallet;
  return { partnerId, mode, balance, currency, openHolds: holds.length, entries: seq };
}

/** `now` on the database's clock: a window of the past counts as empty. */
export function viewLimits({ partnerId, mode }: WalletReference, wallet: Wallet, now: Date): LimitsView {
  const used = {
    minute: windowAt(wallet.minute, minute, now).used,
    hour: windowAt(wallet.hour, hour, now).used,
  };
  return { partnerId, mode, ...wallet.caps, used };
}

export function viewStatement({ partnerId, mode }: WalletReference, statement: Statement): StatementView {
  const { opening, closing, entries, untilSeq } = statement;
  const more = entries.length > 0 && (entries.at(-1)?.seq ?? 0) < untilSeq;
  return {
    partnerId,
    mode,
    currency: 'USD',
    opening,
    closing,
    entries: entries.map(viewEntry),
    untilSeq,
    more,
  };
}
