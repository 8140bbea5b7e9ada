import { digestOf, type LedgerEntry, type LedgerPage } from '../../../server/billing/ledger/ledger-page.ts';

/** The state of a wallet after an entry, computed without the rules of the product. */
export interface WalletView {
  balance: number;
  caps: { perMinute: number; perHour: number };
  minute: { start: number; used: number };
  hour: { start: number; used: number };
  /** The time of the last page. */
  at: number;
}

const windowLengthsMs = { minute: 60_000, hour: 3_600_000 };
const chargeKinds = ['token', 'storefront', 'checkbox'];
const moneyKinds = [...chargeKinds, 'funding', 'adjustment', 'refund'];
const firstWindow = { start: 0, used: 0 };

const counted = (window: WalletView['minute'], length: number, at: number): WalletView['minute'] => {
  const start = at - (at % length);
  return { start, used: start === window.start ? window.used + 1 : 1 };
};

/** Returns the state of a wallet after one more entry at the time `at`, in milliseconds. */
export function afterEntry(view: WalletView, { kind, amount, memo }: LedgerEntry, at: number): WalletView {
  const next = { ...view, at, balance: view.balance + amount };
  if (kind === 'caps') next.caps = { ...view.caps, ...memo?.caps };
  if (!chargeKinds.includes(kind)) return next;
  return {
    ...next,
    minute: counted(view.minute, windowLengthsMs.minute, at),
    hour: counted(view.hour, windowLengthsMs.hour, at),
  };
}

export const emptyWallet: WalletView = {
  balance: 0,
  caps: { perMinute: 60, perHour: 1_000 },
  minute: firstWindow,
  hour: firstWindow,
  at: 0,
};

const flat = ({ balance, minute, hour, caps }: WalletView, seq: number) =>
  [balance, seq, minute.start, minute.used, hour.start, hour.used, caps.perMinute, caps.perHour].join();

/** Creates a check of the pages of one chain, one after another. */
export function createFold() {
  let view = emptyWallet;
  let last: LedgerPage | undefined;
  let seq = 0;
  const ids = new Set<string>();

  function entryFaults(entry: LedgerEntry, at: number): string[] {
    const faults: string[] = [];
    view = afterEntry(view, entry, at);
    if (moneyKinds.includes(entry.kind)) seq += 1;
    if (ids.has(entry.id)) faults.push(`${entry.id} stands twice`);
    ids.add(entry.id);
    if (entry.at.getTime() !== at) faults.push(`${entry.id} has another time than its page`);
    if (entry.seq !== (moneyKinds.includes(entry.kind) ? seq : undefined))
      faults.push(`${entry.id} has seq ${entry.seq}, not ${seq}`);
    if (entry.balanceAfter !== view.balance)
      faults.push(`${entry.id} leaves ${entry.balanceAfter}, not ${view.balance}`);
    if (view.balance < 0) faults.push(`${entry.id} leaves a balance of ${view.balance}`);
    if (chargeKinds.includes(entry.kind)) {
      if (view.minute.used > view.caps.perMinute) faults.push(`${entry.id} exceeds the cap of its minute`);
      if (view.hour.used > view.caps.perHour) faults.push(`${entry.id} exceeds the cap of its hour`);
    }
    return faults;
  }

  return {
    /** Checks `page` as the next page of the chain. @returns its faults as text */
    add(page: LedgerPage): string[] {
      const { _id, n, entries, state } = page;
      const at = page.at.getTime();
      const faults: string[] = [];
      if (n !== (last ? last.n + 1 : 0)) faults.push(`page ${n} follows page ${last?.n}`);
      if (page.previous !== (last?.digest ?? '')) faults.push('is not linked to the page before');
      if (page.digest !== digestOf(page)) faults.push('has a wrong digest');
      if (at < (last?.at.getTime() ?? 0)) faults.push('is older than the page before');
      if (entries.length < 1 || entries.length > 128) faults.push(`has ${entries.length} entries`);
      faults.push(...entries.flatMap((entry) => entryFaults(entry, at)));
      const { minute, hour, balance, caps } = state;
      const windows = {
        minute: { start: minute.start.getTime(), used: minute.used },
        hour: { start: hour.start.getTime(), used: hour.used },
      };
      const stored = flat({ balance, caps, at, ...windows }, state.seq);
      if (stored !== flat(view, seq)) faults.push(`has the state ${stored}, not ${flat(view, seq)}`);
      last = page;
      return faults.map((fault) => `${_id}: ${fault}`);
    },
  };
}
