import type { AuditEntry } from '../platform/database/audit/audit-entry.ts';
import { endDryRun } from '../platform/database/audit/dry-run.ts';
import { ApiError } from '../platform/errors.ts';
import { deriveId } from '../platform/ids.ts';
import { type LedgerEntry, type Memo, opposite, refundIdOf } from './ledger/ledger-page.ts';
import type { LedgerStore } from './ledger/ledger-store.ts';
import type { LedgerWriter } from './ledger/ledger-writer.ts';
import type { Posting } from './ledger/page-builder.ts';
import { checkMovement, isBillable, type WalletState } from './ledger/wallet-rules.ts';

interface Settings {
  writer: Pick<LedgerWriter, 'write'>;
  store: Pick<LedgerStore, 'findAnywhere' | 'walletIds' | 'findEntry' | 'head'>;
  /** Adds entries to the audit log. Idempotent. */
  record: (entries: readonly AuditEntry[]) => Promise<void>;
  idKey: Uint8Array;
  /** Returns a signal that aborts after some milliseconds, like `AbortSignal.timeout`. */
  timeout: (ms: number) => Pick<AbortSignal, 'aborted' | 'reason'>;
}

/** The entry of a manual movement. `repeated` is true if an earlier call has written the entry. */
export interface Moved {
  entry: LedgerEntry & { walletId: string };
  repeated: boolean;
}

/** The memo of a manual entry, with the audit entry about the operator's action. */
export interface OperatorMemo extends Memo {
  audit: AuditEntry;
}

type OperatorPosting = Posting & { memo: OperatorMemo };
type MemoWithReference = OperatorMemo & { reference: string };

/** How long the write of an entry may take, in milliseconds. */
const writeTimeoutMs = 3_000;
/** The most wallets in which an entry is searched. */
const mostWallets = 1_000_000;

const tooLowError = () => new ApiError('refused', { description: 'The balance is less than this amount' });

/** References that people cannot tell apart are the same: two forms of `é` (Unicode, form NFKC), and one space or more. */
const unifiedReference = (reference: string) => reference.normalize('NFKC').replace(/\s+/g, ' ');

/**
 * Writes the entries that operators make: funding, adjustments, refunds and changes of the spend caps. The id of an entry is
 * derived from its cause, so that a repeated command does not move money twice.
 */
export function createManualEntries({ writer, store, record, idKey, timeout }: Settings) {
  /** The checks of a write, for a dry run. @throws DryRunEnd if the entry could be written, ApiError as `write` */
  async function tryOut(posting: OperatorPosting): Promise<Moved> {
    const { walletId, id, kind, amount, memo } = posting;
    const existing = await store.findEntry({ walletId, id });
    if (existing) return { entry: { ...existing, walletId }, repeated: true };
    const head = await store.head(walletId);
    if (head && checkMovement(head.state, { kind, amount }, memo.audit.at.getTime())) throw tooLowError();
    endDryRun(memo.audit);
    throw new Error('a dry run that is none');
  }

  async function write(posting: OperatorPosting): Promise<Moved> {
    if (posting.memo.audit.isDryRun) return tryOut(posting);
    const written = await writer.write(posting, { signal: timeout(writeTimeoutMs) });
    // Manual entries do not count against the spend caps, so the only refusal is that of a low balance.
    if (written.outcome !== 'written' && written.outcome !== 'used') {
      throw tooLowError();
    }
    const { walletId, memo } = posting;
    const repeated = written.outcome === 'used';
    // The operator then finds the entry in the log immediately. If this write fails, the publication of the page adds the entry.
    if (!repeated) await record([memo.audit]).catch(() => undefined);
    return { entry: { ...written.entry, walletId }, repeated };
  }

  const idByReference = (kind: 'funding' | 'adjustment', walletId: string, reference: string) =>
    deriveId(idKey, 'entry', [kind, walletId, unifiedReference(reference)]);

  function requireSameAmount(moved: Moved, amount: number): Moved {
    if (moved.entry.amount === amount) return moved;
    throw new ApiError('conflict', {
      description: `This reference was used for another amount, in entry ${moved.entry.id}`,
    });
  }

  /** Finds an entry of any wallet. @throws ApiError `not_found` */
  async function find(id: string): Promise<LedgerEntry & { walletId: string }> {
    const entry = await store.findAnywhere(id, await store.walletIds({ limit: mostWallets }));
    if (!entry) throw new ApiError('not_found', { description: `No ledger entry ${id}` });
    return entry;
  }

  return {
    find,

    /**
     * Adds prepaid money. A call with the same reference and amount repeats the earlier funding and changes nothing.
     * @param amount cents, at least 5000
     * @throws ApiError `conflict` if the reference was used with another amount
     */
    async fund(walletId: string, amount: number, memo: MemoWithReference): Promise<Moved> {
      const id = idByReference('funding', walletId, memo.reference);
      return requireSameAmount(await write({ walletId, id, kind: 'funding', amount, memo }), amount);
    },

    /**
     * Corrects a balance by signed cents. A call with the same reference and amount changes nothing.
     * @throws ApiError `refused` if the balance would fall below zero; `conflict` if the reference was used with another amount
     */
    async adjust(walletId: string, amount: number, memo: MemoWithReference): Promise<Moved> {
      const id = idByReference('adjustment', walletId, memo.reference);
      return requireSameAmount(await write({ walletId, id, kind: 'adjustment', amount, memo }), amount);
    },

    /**
     * Gives a charge back. Idempotent.
     * @throws ApiError `not_found` if the entry is unknown; `refused` if it is not a charge that cost money
     */
    async refund(chargeId: string, memo: OperatorMemo): Promise<Moved> {
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

    /** Changes the given spend caps. All processes apply them from this entry on, because caps are part of the ledger's state. */
    async setCaps(walletId: string, caps: Partial<WalletState['caps']>, audit: AuditEntry): Promise<void> {
      const id = deriveId(idKey, 'entry', ['caps', walletId, audit.id]);
      await write({ walletId, id, kind: 'caps', amount: 0, memo: { actor: audit.operatorId, caps, audit } });
    },
  };
}
