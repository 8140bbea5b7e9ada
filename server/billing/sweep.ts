import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logging.ts';
import type { Sweep } from '../platform/outbox.ts';
import type { AccessStore } from './access-store.ts';
import { entryOf } from './ledger.ts';
import type { LedgerStore } from './ledger-store.ts';
import type { Movements } from './movements.ts';
import type { Settlement } from './settlement.ts';
import type { WalletPort } from './wallet.ts';
import { type Hold, isBillable } from './wallet-model.ts';
import type { WalletStore } from './wallet-store.ts';

interface SweepSettings {
  wallets: Pick<WalletStore, 'overdue'>;
  wallet: Pick<WalletPort, 'release'>;
  accesses: Pick<AccessStore, 'insert' | 'keep' | 'purge'>;
  ledger: Pick<LedgerStore, 'append'>;
  settlement: Pick<Settlement, 'settle'>;
  movements: Pick<Movements, 'reverse'>;
  clock: Clock;
  logger: Pick<Logger, 'info' | 'warn'>;
}

/** Fewer than the places that a wallet keeps for money that comes back. */
const atOnce = 8;

/**
 * Finishes what a crash left in a wallet: a hold past its deadline is settled where its access was
 * committed, and reversed where it was not. The tombstone has the access's `_id`, so the first of the two
 * decides. Any number of processes may sweep at once.
 */
export function createBillingSweep(settings: SweepSettings): Sweep {
  const { wallets, wallet, accesses, ledger, settlement, movements, clock, logger } = settings;

  /**
   * Gives the money back. The charge stays in the wallet until both are in the ledger, its reversal first: a charge that
   * stands there alone could be refunded instead.
   */
  async function reverse(walletId: string, hold: Hold): Promise<void> {
    const { repeated } = await movements.reverse(walletId, hold);
    await ledger.append([entryOf(walletId, hold)]);
    wallet.release(walletId, [hold.id]);
    if (!repeated) logger.info({ walletId, charge: hold.id }, 'reversed a charge that granted nothing');
  }

  async function finish(walletId: string, hold: Hold): Promise<void> {
    if (!isBillable(hold.kind)) return settlement.settle({ walletId, hold });
    const record = await accesses.insert({
      _id: hold.id,
      state: 'void',
      walletId,
      at: new Date(clock.now()),
    });
    return record.state === 'live' ? settlement.settle({ walletId, hold, record }) : reverse(walletId, hold);
  }

  async function finishSome(walletId: string, holds: readonly Hold[]): Promise<void> {
    const results = await Promise.allSettled(holds.map((hold) => finish(walletId, hold)));
    for (const result of results) {
      if (result.status === 'rejected')
        logger.warn({ err: result.reason, walletId }, 'left to the next sweep');
    }
  }

  return {
    name: 'billing',
    async sweep() {
      if (!clock.trusted()) return;
      const now = new Date(clock.now());
      const late = await wallets.overdue(now);
      // Everything old enough to be purged is late: what decides over a hold outlives it in any case.
      const ids = late.flatMap(({ holds }) => holds.map(({ id }) => id));
      if (ids.length > 0) await accesses.keep(ids, now);
      for (const { walletId, holds: found } of late) {
        // Those that need no room come first: they make it for the reversals of the others.
        const holds = [...found].sort((a, b) => Number(isBillable(a.kind)) - Number(isBillable(b.kind)));
        for (let first = 0; first < holds.length; first += atOnce) {
          await finishSome(walletId, holds.slice(first, first + atOnce));
        }
      }
      await accesses.purge(now);
    },
  };
}
