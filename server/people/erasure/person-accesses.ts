import type { Mode } from '../../../contracts/identifiers.ts';
import type { Charges } from '../../billing/charge.ts';
import type { Billing } from '../../billing/feature.ts';
import type { GrantStore, Traces as WalletTraces } from '../../billing/grant-store.ts';
import { walletIdOf } from '../../billing/ledger/ledger-page.ts';
import { distinct } from '../../platform/batching/distinct.ts';
import { groupBy } from '../../platform/batching/group-by.ts';
import type { Traces } from '../context.ts';

interface Dependencies {
  charges: Pick<Charges, 'idOf'>;
  billing: Pick<Billing, 'endAccesses' | 'eraseAccesses'>;
  grantsOf: GrantStore['ofPerson'];
  /** Removes a user's data from events. @returns the number of changed events */
  eraseEvents: (subs: readonly string[]) => Promise<number>;
  /** Removes the network addresses of these sessions' requests from the request log. */
  forgetAddresses: (sessionIds: readonly string[]) => Promise<void>;
}

/** The keys by which the charges for a user are found. */
type ChargeTraces = Pick<Traces, 'codes' | 'enrollments'>;

/** Makes the functions that find, end and erase the accesses to one user's claims, in the ledgers of all partners. */
export function createPersonAccesses(dependencies: Dependencies) {
  const { charges, billing, grantsOf, eraseEvents, forgetAddresses } = dependencies;

  /** Groups the ids of a user's charges and enrollments by the wallet that pays for them. */
  function tracesByWallet({ codes, enrollments }: ChargeTraces): WalletTraces[] {
    const walletOf = ({ partnerId, mode }: { partnerId: string; mode: Mode }) => walletIdOf(partnerId, mode);
    const codesOf = groupBy(codes, walletOf);
    const enrollmentsOf = groupBy(enrollments, walletOf);
    return distinct([...codesOf.keys(), ...enrollmentsOf.keys()]).map((walletId) => ({
      walletId,
      ids: distinct((codesOf.get(walletId) ?? []).map(({ codeHash }) => charges.idOf(codeHash))),
      enrollmentIds: distinct((enrollmentsOf.get(walletId) ?? []).map(({ enrollmentId }) => enrollmentId)),
    }));
  }

  return {
    /** Ends the accesses that partners bought until a time, after a user has withdrawn the consent. */
    async end(traces: ChargeTraces, chargedUntil: Date): Promise<void> {
      await Promise.all(tracesByWallet(traces).map((each) => billing.endAccesses(each, chargedUntil)));
    },

    /** Lists the claims that were shared with partners, except those of removed grants. */
    async shared(traces: ChargeTraces) {
      const entries = await Promise.all(tracesByWallet(traces).map(grantsOf));
      return entries.flat().map(({ at, grant }) => ({
        enrollmentId: grant.enrollmentId,
        at,
        claims: Object.keys(grant.claims),
      }));
    },

    /**
     * Removes a user's data from billing, webhooks and the request log. Idempotent.
     * @returns the numbers of removed accesses and changed events
     */
    async erase({ subs, sessionIds, ...traces }: Traces): Promise<{ accesses: number; events: number }> {
      await forgetAddresses(sessionIds);
      const counts = await Promise.all(tracesByWallet(traces).map(billing.eraseAccesses));
      return { accesses: counts.reduce((sum, count) => sum + count, 0), events: await eraseEvents(subs) };
    },
  };
}
