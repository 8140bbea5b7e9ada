import type { WalletResponse } from '../../../contracts/account.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import { ApiError } from '../../platform/errors.ts';
import { walletIdOf } from '../ledger/ledger-page.ts';
import type { WalletsContext } from './context.ts';
import { viewLimits, viewWallet } from './views.ts';
import type { WalletSummaries } from './wallet-summaries.ts';

/** Returns a function that reads the balance, limits and spending of a wallet for the programs of its partner. */
export function createWalletReading({ stores, clock }: WalletsContext, summaries: WalletSummaries) {
  return async (wallet: { partnerId: string; mode: Mode }): Promise<WalletResponse['wallet']> => {
    const walletId = walletIdOf(wallet.partnerId, wallet.mode);
    const [head, spentPerDay] = await Promise.all([
      stores.ledger.head(walletId),
      summaries.spentPerDay(walletId),
    ]);
    if (!head) throw new ApiError('not_found', { description: `No wallet ${walletId}` });
    const { balance, currency, daysLeft } = viewWallet(wallet, head, spentPerDay);
    const { perMinute, perHour, used } = viewLimits(wallet, head, { now: clock.now(), ceilings: undefined });
    return {
      isTestMode: wallet.mode === 'test',
      balance,
      currency,
      spentPerDay,
      daysLeft,
      limits: { perMinute, perHour, usedThisMinute: used.minute, usedThisHour: used.hour },
    };
  };
}
