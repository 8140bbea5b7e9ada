import type { AccessRemoval } from '../billing/access-removal.ts';
import type { Charges } from '../billing/charge.ts';
import type { Traces } from '../verification/people/erasure.ts';
import { ledgerTraces } from './person-accesses.ts';

interface Dependencies {
  charges: Pick<Charges, 'idOf'>;
  eraseAccesses: AccessRemoval['erase'];
  /** Removes a user's data from events. @returns the number of changed events */
  eraseEvents: (subs: readonly string[]) => Promise<number>;
  /** Removes the network addresses of these sessions' requests from the request log. */
  forgetAddresses: (sessionIds: readonly string[]) => Promise<void>;
}

/** Returns a function that removes a user's data from billing, webhooks and the request log. Idempotent. */
export function createErasureElsewhere(dependencies: Dependencies) {
  const { charges, eraseAccesses, eraseEvents, forgetAddresses } = dependencies;
  return async ({ subs, sessionIds, ...traces }: Traces): Promise<{ accesses: number; events: number }> => {
    await forgetAddresses(sessionIds);
    const counts = await Promise.all(ledgerTraces(traces, charges).map(eraseAccesses));
    return { accesses: counts.reduce((sum, count) => sum + count, 0), events: await eraseEvents(subs) };
  };
}
