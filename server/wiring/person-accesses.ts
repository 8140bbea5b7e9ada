import type { AccessRemoval } from '../billing/access-removal.ts';
import type { Charges } from '../billing/charge.ts';
import type { GrantStore, Traces as WalletTraces } from '../billing/grant-store.ts';
import { walletIdOf } from '../billing/ledger-page.ts';
import type { Traces } from '../verification/people/erasure.ts';

interface Dependencies {
  charges: Pick<Charges, 'idOf'>;
  endAccesses: AccessRemoval['end'];
}

/** What a person's codes and enrollments are in the ledgers of the wallets that pay for them. */
export function ledgerTraces(
  { codes, enrollments }: Pick<Traces, 'codes' | 'enrollments'>,
  { idOf }: Pick<Charges, 'idOf'>,
): WalletTraces[] {
  const traces = new Map<string, { ids: Set<string>; enrollmentIds: Set<string> }>();
  const of = (walletId: string) => {
    const found = traces.get(walletId) ?? { ids: new Set(), enrollmentIds: new Set() };
    traces.set(walletId, found);
    return found;
  };
  for (const { partnerId, mode, enrollmentId } of enrollments)
    of(walletIdOf(partnerId, mode)).enrollmentIds.add(enrollmentId);
  for (const { partnerId, mode, codeHash } of codes) of(walletIdOf(partnerId, mode)).ids.add(idOf(codeHash));
  return [...traces].map(([walletId, { ids, enrollmentIds }]) => ({
    walletId,
    ids: [...ids],
    enrollmentIds: [...enrollmentIds],
  }));
}

/** Ends what partners have bought of a person for consents that are withdrawn. */
export function createEndAccesses({ charges, endAccesses }: Dependencies) {
  return async (traces: Pick<Traces, 'codes' | 'enrollments'>, chargedBy: Date): Promise<void> => {
    await Promise.all(ledgerTraces(traces, charges).map((each) => endAccesses(each, chargedBy)));
  };
}

/** What partners have bought of a person and the ledger still names. */
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
