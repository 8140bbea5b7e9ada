import { MongoNetworkError } from 'mongodb';
import { createBillingStores } from '../../server/billing/store.ts';
import type { Database } from '../../server/platform/database/connect.ts';
import { createVerificationStores } from '../../server/verification/store.ts';

type Part = 'sessions' | 'ledger' | 'revocations';
/** A bug of ours, or a database that is away. */
type Kind = 'fault' | 'outage';

/** The ledger is read all the same, by operators too: only what writes it fails. */
const breaks = (part: Part, method: string | symbol) => part !== 'ledger' || method === 'insert';

/** Stores that fail when a test says so, until mended. */
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
    /** To be given to the server under test. */
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
