import type { AuditEntry } from '../platform/audit-entry.ts';
import { isUnavailable } from '../platform/database/connect.ts';
import type { EventDraft, Publish } from '../platform/outbox.ts';
import { createStage } from '../platform/stage.ts';
import { type Access, erasedSub } from './access-store.ts';
import { entryOf } from './ledger.ts';
import type { LedgerStore } from './ledger-store.ts';
import type { WalletPort } from './wallet.ts';
import type { Hold } from './wallet-model.ts';

/** A hold that is decided, with the access that committed it; money that moved without one has none. */
export interface Settled {
  walletId: string;
  hold: Hold;
  record?: Access;
}

interface SettlementSettings {
  ledger: Pick<LedgerStore, 'append'>;
  wallet: Pick<WalletPort, 'release'>;
  publish: Publish;
  /** Adds entries to the audit log; twice is once. */
  record: (entries: readonly AuditEntry[]) => Promise<void>;
}

/** `vae.resolved`: a returning user's code was exchanged at the token endpoint (interface section 6). */
function verifiedAccessEvent(access: Access): EventDraft {
  const { _id, partnerId, mode, keyId, sub, claims, at, sessionId, enrollmentId } = access;
  return {
    type: 'vae.resolved',
    cause: [_id],
    partnerId,
    mode,
    keyId,
    about: { sessionId, enrollmentId, sub },
    at,
    fields: { user_id: sub, claims, resolved_at: at.toISOString() },
  };
}

/** Nobody is told of somebody who was erased since. */
const owesEvent = ({ record }: Settled): Access[] =>
  record?.kind === 'token' && record.returning && record.sub !== erasedSub ? [record] : [];

/** Nobody waits for a settlement, and thirty cost hardly more than one. */
const linger = { ms: 50, enough: 32 };

/**
 * What follows a decided hold, in batches and after the answer: its ledger entry, its event, and last its leave from the wallet. Every step is idempotent; a crash in between
 * leaves the hold, and the sweeper starts over.
 */
export function createSettlement(settings: SettlementSettings) {
  const { ledger, wallet, publish, record } = settings;

  async function settleAll(batch: readonly Settled[]): Promise<void> {
    await ledger.append(batch.map(({ walletId, hold }) => entryOf(walletId, hold)));
    await publish(batch.flatMap(owesEvent).map(verifiedAccessEvent));
    await record(batch.flatMap(({ hold }) => hold.memo?.audit ?? []));
    for (const { walletId, hold } of batch) wallet.release(walletId, [hold.id]);
  }

  const settleOne = createStage<Settled, null>({
    linger,
    async run(batch) {
      const done = () => null;
      try {
        return await settleAll(batch).then(() => batch.map(done));
      } catch (error) {
        if (isUnavailable(error)) throw error;
        // One that cannot be settled, in a corrupt wallet for instance, must not hold up the others.
        return Promise.all(batch.map((one) => settleAll([one]).then(done, (reason: Error) => reason)));
      }
    },
  });
  const underway = new Set<Promise<unknown>>();

  return {
    /** Resolves when everything that follows is written; the id leaves the wallet soon after. */
    async settle(settled: Settled): Promise<void> {
      const work = settleOne(settled);
      underway.add(work);
      await work.finally(() => underway.delete(work));
    },

    /** Waits for the settlements under way; for a graceful stop. */
    async drain(): Promise<void> {
      await Promise.allSettled(underway);
    },
  };
}
export type Settlement = ReturnType<typeof createSettlement>;
