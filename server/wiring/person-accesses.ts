import type { Mode } from '../../contracts/identifiers.ts';
import type { AccessRemoval } from '../billing/access-removal.ts';
import type { Charges } from '../billing/charge.ts';
import type { GrantStore, Traces as WalletTraces } from '../billing/grant-store.ts';
import { walletIdOf } from '../billing/ledger-page.ts';
import { distinct } from '../platform/batching/distinct.ts';
import { groupBy } from '../platform/batching/group-by.ts';
import type { Traces } from '../verification/people/erasure.ts';

interface Dependencies {
  charges: Pick<Charges, 'idOf'>;
  endAccesses: AccessRemoval['end'];
}

/** Returns the ids of a user's charges and enrollments, grouped by the wallet that pays for them. */
export function ledgerTraces(
  { codes, enrollments }: Pick<Traces, 'codes' | 'enrollments'>,
  { idOf }: Pick<Charges, 'idOf'>,
): WalletTraces[] {
  const walletOf = ({ partnerId, mode }: { partnerId: string; mode: Mode }) => walletIdOf(partnerId, mode);
  const codesOf = groupBy(codes, walletOf);
  const enrollmentsOf = groupBy(enrollments, walletOf);
  return distinct([...codesOf.keys(), ...enrollmentsOf.keys()]).map((walletId) => ({
    walletId,
    ids: distinct((codesOf.get(walletId) ?? []).map(({ codeHash }) => idOf(codeHash))),
    enrollmentIds: distinct((enrollmentsOf.get(walletId) ?? []).map(({ enrollmentId }) => enrollmentId)),
  }));
}

/** Returns a function that ends the accesses that partners bought until a time, after a user has withdrawn the consent. */
export function createEndAccesses({ charges, endAccesses }: Dependencies) {
  return async (traces: Pick<Traces, 'codes' | 'enrollments'>, chargedUntil: Date): Promise<void> => {
    await Promise.all(ledgerTraces(traces, charges).map((each) => endAccesses(each, chargedUntil)));
  };
}

/** Returns a function that lists the claims that were shared with partners, except those of removed grants. */
export function createSharedOf(charges: Pick<Charges, 'idOf'>, grantsOf: GrantStore['ofPerson']) {
  return async (traces: Pick<Traces, 'codes' | 'enrollments'>) => {
    const entries = await Promise.all(ledgerTraces(traces, charges).map(grantsOf));
    return entries.flat().map(({ at, grant }) => ({
      enrollmentId: grant.enrollmentId,
      at,
      claims: Object.keys(grant.claims),
    }));
  };
}
