import type { Clock } from '../platform/clock.ts';
import { ApiError, unavailable } from '../platform/errors.ts';
import { deriveId } from '../platform/ids.ts';
import { entryOf, type LedgerEntry, opposite, reversalIdOf } from './ledger.ts';
import type { LedgerStore } from './ledger-store.ts';
import type { Settlement } from './settlement.ts';
import type { WalletPort } from './wallet.ts';
import { type EntryKind, type Hold, isBillable, type Memo } from './wallet-model.ts';

interface MovementSettings {
  wallet: Pick<WalletPort, 'basis' | 'post'>;
  ledger: Pick<LedgerStore, 'find'>;
  settlement: Pick<Settlement, 'settle'>;
  clock: Clock;
  idKey: Uint8Array;
  uptime?: () => number;
}

interface Movement {
  id: string;
  walletId: string;
  kind: EntryKind;
  amount: number;
  memo: Memo;
}

/** An entry of the ledger, and whether it stood there before this call. */
export interface Moved {
  entry: LedgerEntry;
  repeated: boolean;
}

const patience = 3_000;
const deadlineAfter = 10_000;
const rounds = 4;

/**
 * Money that moves without an access: funding, adjustments, refunds. It goes through the same update as a
 * charge; its id comes from what caused it, so that a repeated command moves nothing twice.
 */
export function createMovements(settings: MovementSettings) {
  const { wallet, ledger, settlement, clock, idKey, uptime = () => performance.now() } = settings;

  async function move({ id, walletId, kind, amount, memo }: Movement): Promise<Moved> {
    if (!clock.trusted()) throw unavailable(new Error('the clock of this process is not trusted'));
    const until = uptime() + patience;
    for (let round = 0; round < rounds; round += 1) {
      const basis = await wallet.basis(walletId);
      const standing = await ledger.find(id);
      if (standing) return { entry: standing, repeated: true };

      const at = new Date(clock.now());
      const deadline = new Date(at.getTime() + deadlineAfter);
      const verdict = await wallet.post(
        walletId,
        { id, kind, amount, counted: false, basis, at, deadline, memo },
        until,
      );
      if (verdict.outcome === 'insufficient') {
        throw new ApiError('refused', { description: 'The wallet holds less than this takes out' });
      }
      if (verdict.outcome === 'held') {
        const { hold } = verdict;
        await settlement.settle({ walletId, hold });
        return { entry: entryOf(walletId, hold), repeated: hold.at.getTime() !== at.getTime() };
      }
    }
    throw unavailable();
  }

  function sameAmount(moved: Moved, amount: number): Moved {
    if (moved.entry.amount === amount) return moved;
    throw new ApiError('conflict', {
      description: `This reference was used for another amount, in entry ${moved.entry._id}`,
    });
  }

  return {
    /** Takes a charge back that granted nothing, whatever its amount; twice is once. */
    reverse: (walletId: string, charge: Pick<Hold, 'id' | 'amount'>): Promise<Moved> =>
      move({
        id: reversalIdOf(charge.id),
        walletId,
        kind: 'reversal',
        amount: opposite(charge.amount),
        memo: { of: charge.id, reason: 'no access was committed' },
      }),

    /**
     * Adds prepaid money. The same reference and amount twice is one funding.
     * @param amount cents, at least 5000 @throws ApiError conflict for a reference used with another amount
     */
    async fund(walletId: string, amount: number, memo: Memo & { reference: string }): Promise<Moved> {
      const id = deriveId(idKey, 'entry', ['funding', walletId, memo.reference]);
      return sameAmount(await move({ id, walletId, kind: 'funding', amount, memo }), amount);
    },

    /**
     * Corrects a balance by signed cents. The same reference and amount twice is one adjustment.
     * @throws ApiError refused where the balance would fall below zero; conflict as for funding
     */
    async adjust(walletId: string, amount: number, memo: Memo & { reference: string }): Promise<Moved> {
      const id = deriveId(idKey, 'entry', ['adjustment', walletId, memo.reference]);
      return sameAmount(await move({ id, walletId, kind: 'adjustment', amount, memo }), amount);
    },

    /**
     * Gives one charge back; twice is once.
     * @throws ApiError not_found for an unknown or not yet settled charge; refused for anything but a charge,
     *   for one that was reversed, and for one that cost nothing
     */
    async refund(chargeId: string, memo: Memo): Promise<Moved> {
      const charge = await ledger.find(chargeId);
      if (!charge) throw new ApiError('not_found', { description: `No settled ledger entry ${chargeId}` });
      if (charge.amount >= 0 || !isBillable(charge.kind)) {
        throw new ApiError('refused', { description: `${chargeId} is not a charge that cost money` });
      }
      const { walletId, amount } = charge;
      const moved = await move({
        id: reversalIdOf(chargeId),
        walletId,
        kind: 'refund',
        amount: opposite(amount),
        memo: { ...memo, of: chargeId },
      });
      if (moved.entry.kind === 'refund') return moved;
      throw new ApiError('refused', { description: `${chargeId} was reversed already: it granted nothing` });
    },
  };
}
export type Movements = ReturnType<typeof createMovements>;
