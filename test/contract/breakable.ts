import { MongoNetworkError } from 'mongodb';
import { createBillingStores } from '../../server/billing/store.ts';
import type { Database } from '../../server/platform/database/connect.ts';
import { createVerificationStores } from '../../server/verification/store.ts';

type Part = 'sessions' | 'ledger' | 'revocations';
/** An unexpected error, or a database outage. */
type Kind = 'fault' | 'outage';

/** Reads of the ledger work; only its writes fail. */
const breaks = (part: Part, method: string | symbol) => part !== 'ledger' || method === 'insert';

/** Stores that fail on request, until they are repaired. */
export function breakable() {
  let broken: { part: Part; kind: Kind } | undefined;

  function wrap<Store extends object>(part: Part, store: Store): Store {
    return new Proxy(store, {
      get(target, name, receiver) {
        const method: unknown = Reflect.get(target, name, receiver);
        if (typeof method !== 'function' || broken?.part !== part || !breaks(part, name)) return method;
        return async () => {
          throw broken?.kind === 'outage' ? new MongoNetworkError('away') : new Error('a bug');
        };
      },
    });
  }

  return {
    break: (part: Part, kind: Kind) => {
      broken = { part, kind };
    },
    mend: () => {
      broken = undefined;
    },
    /** The replacements for the server under test. */
    replacements: {
      foundation({ db }: Database) {
        const billing = createBillingStores(db);
        const verification = createVerificationStores(db);
        return {
          stores: {
            billing: {
              ...billing,
              ledger: wrap('ledger', billing.ledger),
              revocations: wrap('revocations', billing.revocations),
            },
            verification: { ...verification, sessions: wrap('sessions', verification.sessions) },
          },
        };
      },
    },
  };
}
