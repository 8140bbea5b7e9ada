import type { Clock } from '../platform/clock.ts';
import type { Sweep } from '../platform/database/event-draft.ts';
import { expiredGrantsRead, type GrantStore, type Traces } from './grant-store.ts';
import { kindsWithoutCode } from './ledger/ledger-store.ts';
import type { RevocationStore } from './revocation-store.ts';

interface Dependencies {
  grants: GrantStore;
  revocations: Pick<RevocationStore, 'add'>;
  clock: Pick<Clock, 'now'>;
}

const withoutCode: ReadonlySet<string> = new Set(kindsWithoutCode);

/** Removes the grants of erased users, and grants whose retention has ended, from the ledger. The charges are not changed. */
export function createAccessRemoval({ grants, revocations, clock }: Dependencies) {
  const retention: Sweep = {
    name: 'old grants',
    look: () => ({ reads: [expiredGrantsRead(new Date(clock.now()))] }),
    sweep: () => grants.removeExpired(new Date(clock.now())),
  };

  return {
    retention,

    /** Revokes all accesses to a user's claims, then removes the grants. Idempotent. @returns the number of removed grants */
    async erase(traces: Traces): Promise<number> {
      const ids = (await grants.ofPerson(traces)).map(({ id }) => id);
      if (ids.length === 0) return 0;
      await revocations.add(ids, new Date(clock.now()), 'removed grant');
      await grants.remove(traces.walletId, ids);
      return ids.length;
    },

    /**
     * Revokes the accesses of the given charges, and those of charges without a code for the enrollments until `chargedUntil`.
     * Expired accesses are skipped. The grants are not removed. Idempotent.
     */
    async end(traces: Traces, chargedUntil: Date): Promise<void> {
      const now = new Date(clock.now());
      // The charge of a code is named. Others are found by enrollment and time.
      const mustEnd = ({ id, kind, at }: { id: string; kind: string; at: Date }) =>
        traces.ids.includes(id) || (withoutCode.has(kind) && at <= chargedUntil);
      const valid = (await grants.ofPerson(traces)).filter(
        (entry) => mustEnd(entry) && entry.grant.expiresAt > now,
      );
      if (valid.length === 0) return;
      const ids = valid.map(({ id }) => id);
      await revocations.add(ids, now, 'withdrawn consent');
    },
  };
}
