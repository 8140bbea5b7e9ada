import type { AuditEntry } from '../platform/database/audit-entry.ts';
import { ApiError } from '../platform/errors.ts';
import { deriveId } from '../platform/ids.ts';
import { type LedgerEntry, type Memo, opposite, refundIdOf } from './ledger-page.ts';
import type { LedgerStore } from './ledger-store.ts';
import type { LedgerWriter } from './ledger-writer.ts';
import type { Posting } from './page-builder.ts';
import { isBillable, type WalletState } from './wallet-rules.ts';

interface Settings {
  writer: Pick<LedgerWriter, 'write'>;
  store: Pick<LedgerStore, 'findAnywhere' | 'walletIds'>;
  idKey: Uint8Array;
  /** As `AbortSignal.timeout`. */
  timeout: (ms: number) => Pick<AbortSignal, 'aborted' | 'reason'>;
}

/** An entry, and whether it stood before this call. */
export interface Moved {
  entry: LedgerEntry & { walletId: string };
  repeated: boolean;
}

/** The reason of an entry, and its operator. */
export interface Reasons extends Memo {
  audit: AuditEntry;
}

/** Milliseconds within which an entry must be written. */
const writeTimeoutMs = 3_000;
const allWallets = 1_000_000;

/**
 * Money that an operator moves: funding, adjustments, refunds, and changes of the spend caps. Each id follows from its cause, so
 * that a repeated command moves nothing twice.
 */
export function createManualEntries({ writer, store, idKey, timeout }: Settings) {
  async function write(posting: Posting): Promise<Moved> {
    const written = await writer.write(posting, { signal: timeout(writeTimeoutMs) });
    if (written.outcome !== 'written' && written.outcome !== 'used') {
      throw new ApiError('refused', { description: 'The balance is less than this amount' });
    }
    const { walletId } = posting;
    return { entry: { ...written.entry, walletId }, repeated: written.outcome === 'used' };
  }

  function sameAmount(moved: Moved, amount: number): Moved {
    if (moved.entry.amount === amount) return moved;
    throw new ApiError('conflict', {
      description: `This reference was used for another amount, in entry ${moved.entry.id}`,
    });
  }

  /** An entry of any wallet. @throws ApiError not_found */
  async function find(id: string): Promise<LedgerEntry & { walletId: string }> {
    const entry = await store.findAnywhere(id, await store.walletIds({ limit: allWallets }));
    if (!entry) throw new ApiError('not_found', { description: `No ledger entry ${id}` });
    return entry;
  }

  return {
    find,

    /**
     * Adds prepaid money. The same reference and amount twice is one funding.
     * @param amount cents, at least 5000 @throws ApiError conflict for a reference used with another amount
     */
    async fund(walletId: string, amount: number, memo: Reasons & { reference: string }): Promise<Moved> {
      const id = deriveId(idKey, 'entry', ['funding', walletId, memo.reference]);
      return sameAmount(await write({ walletId, id, kind: 'funding', amount, memo }), amount);
    },

    /**
     * Corrects a balance by signed cents. The same reference and amount twice is one adjustment.
     * @throws ApiError refused where the balance would fall below zero; conflict as for funding
     */
    async adjust(walletId: string, amount: number, memo: Reasons & { reference: string }): Promise<Moved> {
      const id = deriveId(idKey, 'entry', ['adjustment', walletId, memo.reference]);
      return sameAmount(await write({ walletId, id, kind: 'adjustment', amount, memo }), amount);
    },

    /**
     * Gives one charge back. Idempotent.
     * @throws ApiError not_found for an unknown charge; refused for anything but a charge that cost money
     */
    async refund(chargeId: string, memo: Reasons): Promise<Moved> {
      const { walletId, kind, amount } = await find(chargeId);
      if (amount >= 0 || !isBillable(kind)) {
        throw new ApiError('refused', { description: `${chargeId} is not a charge that cost money` });
      }
      const id = refundIdOf(chargeId);
      return write({
        walletId,
        id,
        kind: 'refund',
        amount: opposite(amount),
        memo: { ...memo, of: chargeId },
      });
    },

    /** Changes the spend caps that are given, in all processes at the same moment. */
    async setCaps(walletId: string, caps: Partial<WalletState['caps']>, audit: AuditEntry): Promise<void> {
      const id = deriveId(idKey, 'entry', ['caps', walletId, audit.id]);
      await write({ walletId, id, kind: 'caps', amount: 0, memo: { actor: audit.operatorId, caps, audit } });
    },
  };
}
export type ManualEntries = ReturnType<typeof createManualEntries>;
