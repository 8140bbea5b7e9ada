import type { AccessRemoval } from '../billing/access-removal.ts';
import type { Charges } from '../billing/charge.ts';
import type { GrantStore, Traces as WalletTraces } from '../billing/grant-store.ts';
import { walletIdOf } from '../billing/ledger-page.ts';
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
  const traces = new Map<string, { ids: Set<string>; enrollmentIds: Set<string> }>();
  const tracesOf = (walletId: string) => {
    const found = traces.get(walletId) ?? { ids: new Set(), enrollmentIds: new Set() };
    traces.set(walletId, found);
    return found;
  };
  for (const { partnerId, mode, enrollmentId } of enrollments)
    tracesOf(walletIdOf(partnerId, mode)).enrollmentIds.add(enrollmentId);
  for (const { partnerId, mode, codeHash } of codes)
    tracesOf(walletIdOf(partnerId, mode)).ids.add(idOf(codeHash));
  return [...traces].map(([walletId, { ids, enrollmentIds }]) => ({
    walletId,
    ids: [...ids],
    enrollmentIds: [...enrollmentIds],
  }));
}

/** Returns a function that ends the accesses that partners bought until a time, after a user has withdrawn the consent. */
export function createEndAccesses({ charges, endAccesses }: Dependencies) {
  return async (traces: Pick<Traces, 'codes' | 'enrollments'>, chargedUntil: Date): Promise<void> => {
    await Promise.all(ledgerTraces(traces, charges).map((each) => endAccesses(each, chargedUntil)));
  };
}

/** Returns a function that lists which claims of a user partners have bought. Claims of removed grants are left out. */
export function createSharedOf({
  charges,
  grantsOf,
}: {
  charges: Pick<Charges, 'idOf'>;
  grantsOf: GrantStore['ofPerson'];
}) {
  return async (traces: Pick<Traces, 'codes' | 'enrollments'>) => {
    const entries = await Promise.all(ledgerTraces(traces, charges).map(grantsOf));
    return entries.flat().map(({ at, grant }) => ({
      enrollmentId: grant.enrollmentId,
      at,
      claims: Object.keys(grant.claims),
    }));
  };
}
