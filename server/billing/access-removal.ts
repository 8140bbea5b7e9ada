import type { Clock } from '../platform/clock.ts';
import type { Sweep } from '../platform/database/event-draft.ts';
import type { GrantStore, Traces } from './grant-store.ts';
import type { RevocationStore } from './revocation-store.ts';

interface Dependencies {
  grants: GrantStore;
  revocations: Pick<RevocationStore, 'add'>;
  clock: Pick<Clock, 'now'>;
}

/** Removes the grants of erased people, and grants whose retention has ended, from the ledger. The charges stay. */
export function createAccessRemoval({ grants, revocations, clock }: Dependencies) {
  const retention: Sweep = {
    name: 'old grants',
    sweep: () => grants.removeOld(new Date(clock.now())),
  };

  return {
    retention,

    /** Revokes a person's accesses, then removes their grants. Idempotent. @returns the number of removed grants */
    async erase(traces: Traces): Promise<number> {
      const ids = (await grants.ofPerson(traces)).map(({ id }) => id);
      if (ids.length === 0) return 0;
      await revocations.add(ids, new Date(clock.now()), 'removed grant');
      await grants.remove(traces.walletId, ids);
      return ids.length;
    },

    /**
     * Revokes the accesses of the given charges, and those that checkboxes of the enrollments bought until `chargedBy`. Expired
     * accesses are skipped. The grants stay. Idempotent.
     */
    async end(traces: Traces, chargedBy: Date): Promise<void> {
      const now = new Date(clock.now());
      const isEnded = ({ id, kind, at }: { id: string; kind: string; at: Date }) =>
        traces.ids.includes(id) || (kind === 'checkbox' && at <= chargedBy);
      const open = (await grants.ofPerson(traces)).filter(
        (entry) => isEnded(entry) && entry.grant.expiresAt > now,
      );
      if (open.length === 0) return;
      const ids = open.map(({ id }) => id);
      await revocations.add(ids, now, 'withdrawn consent');
    },
  };
}
export type AccessRemoval = ReturnType<typeof createAccessRemoval>;
