import type { AccessRemoval } from '../billing/access-removal.ts';
import type { Charges } from '../billing/charge.ts';
import { walletIdOf } from '../billing/ledger-page.ts';
import type { Traces } from '../verification/people/erasure.ts';

interface Dependencies {
  charges: Pick<Charges, 'past'>;
  eraseAccesses: AccessRemoval['erase'];
  /** Removes a person from events. @returns how many there were */
  eraseEvents: (subs: readonly string[]) => Promise<number>;
  /** Removes the addresses of requests from the log. */
  forgetAddresses: (sessionIds: readonly string[]) => Promise<void>;
}

/** Removes a person from what billing, webhooks and the request log keep. Idempotent. */
export function createErasureElsewhere(dependencies: Dependencies) {
  const { charges, eraseAccesses, eraseEvents, forgetAddresses } = dependencies;
  return async ({
    subs,
    enrollments,
    codes,
    sessionIds,
  }: Traces): Promise<{ accesses: number; events: number }> => {
    await forgetAddresses(sessionIds);
    const traces = new Map<string, { ids: Set<string>; enrollmentIds: Set<string> }>();
    const of = (walletId: string) => {
      const found = traces.get(walletId) ?? { ids: new Set(), enrollmentIds: new Set() };
      traces.set(walletId, found);
      return found;
    };
    for (const { partnerId, mode, enrollmentId } of enrollments) {
      of(walletIdOf(partnerId, mode)).enrollmentIds.add(enrollmentId);
    }
    const charged = await Promise.all(
      codes.map(async ({ partnerId, mode, codeHash }) => ({
        walletId: walletIdOf(partnerId, mode),
        charge: await charges.past({ partnerId, mode, cause: codeHash }),
      })),
    );
    for (const { walletId, charge } of charged) if (charge) of(walletId).ids.add(charge.id);
    const counts = await Promise.all(
      [...traces].map(([walletId, { ids, enrollmentIds }]) =>
        eraseAccesses({ walletId, ids: [...ids], enrollmentIds: [...enrollmentIds] }),
      ),
    );
    return { accesses: counts.reduce((sum, count) => sum + count, 0), events: await eraseEvents(subs) };
  };
}
