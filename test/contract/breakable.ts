import { MongoNetworkError } from 'mongodb';
import { createBillingStores } from '../../server/billing/store.ts';
import { createVerificationStores } from '../../server/people/store.ts';
import type { Database } from '../../server/platform/database/connect.ts';

type Part = 'sessions' | 'ledger' | 'revocations';
/** How a store fails: with an unexpected error, or as in a database outage. */
type Kind = 'fault' | 'outage';

/** Whether a broken part fails in this method. Of a broken ledger, only `insert` fails, and its reads work. */
const breaks = (part: Part, method: string | symbol) => part !== 'ledger' || method === 'insert';

/** Creates stores that fail after `break`, until `mend`. */
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
    /** Replacements that give these stores to the server under test. */
    replacements: {
      pace: { resendWithin: 300 },
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
