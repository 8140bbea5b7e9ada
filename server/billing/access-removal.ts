import type { Clock } from '../platform/clock.ts';
import type { Sweep } from '../platform/database/event-draft.ts';
import type { GrantStore, Traces } from './grant-store.ts';
import type { RevocationStore } from './revocation-store.ts';

interface Dependencies {
  grants: GrantStore;
  revocations: Pick<RevocationStore, 'add'>;
  clock: Pick<Clock, 'now'>;
}

/** Removes grants from the ledger: those of erased people, and those that were kept long enough. The charges stay. */
export function createAccessRemoval({ grants, revocations, clock }: Dependencies) {
  const retention: Sweep = {
    name: 'old grants',
    sweep: () => grants.removeOld(new Date(clock.now())),
  };

  return {
    retention,

    /** Revokes a person's accesses, then removes their grants. Idempotent. @returns how many there were */
    async erase(traces: Traces): Promise<number> {
      const ids = await grants.idsOf(traces);
      if (ids.length === 0) return 0;
      await revocations.add(ids, new Date(clock.now()), 'removed grant');
      await grants.remove(traces.walletId, ids);
      return ids.length;
    },
  };
}
export type AccessRemoval = ReturnType<typeof createAccessRemoval>;
