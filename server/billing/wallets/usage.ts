import type { UsageView } from '../../../contracts/admin/wallets.ts';
import { windowStart } from '../../platform/http/limits/windows.ts';
import { ownerOfWallet } from '../ledger/ledger-page.ts';
import type { DayOfCharges, LedgerStore } from '../ledger/ledger-store.ts';
import { findFirstPage, type Wallet } from './statement.ts';

const dayMs = 86_400_000;
/** The most pages that the database adds up, with up to 128,000 entries. */
const mostPages = 1_000;

/** The day in UTC, such as `2026-07-01`. */
const nameOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

type Store = Pick<LedgerStore, 'summaries' | 'chargesByDay'>;

/**
 * Counts the charges of a wallet by day in UTC, the oldest day first, with days without charges. The database adds them up. If
 * they are on too many pages, the answer begins with the first day that was read whole.
 * @param wanted the number of `days`, the day of `now` (ms) included
 */
export async function readUsage(
  wallet: Wallet,
  { days, now }: { days: number; now: number },
  store: Store,
): Promise<UsageView> {
  const today = windowStart(now, dayMs);
  const wantedFrom = new Date(today - (days - 1) * dayMs);
  const first = await findFirstPage(wallet, store, ({ at }) => at >= wantedFrom);
  const firstRead = Math.max(first, wallet.n + 1 - mostPages);
  const charges = await store.chargesByDay(wallet.walletId, { from: firstRead, to: wallet.n });
  const byDay = new Map<string, DayOfCharges>(charges.map((each) => [each.day, each]));
  const [oldest] = [...byDay.keys()].sort();
  // The day of the first page that was read began on pages that were not.
  const from =
    firstRead > first && oldest ? Math.min(Date.parse(oldest) + dayMs, today) : wantedFrom.getTime();
  const names = Array.from({ length: (today - from) / dayMs + 1 }, (_, n) => nameOf(from + n * dayMs));
  return {
    ...ownerOfWallet(wallet.walletId),
    currency: 'USD',
    days: names.map((day) => byDay.get(day) ?? { day, charges: 0, cents: 0 }),
  };
}
