import type { Imprint } from '../../platform/config/imprint.ts';
import type { AuditEntry } from '../../platform/database/audit-entry.ts';
import type { RequestLimit } from '../../platform/http/request-limits.ts';
import type { ClientDirectory } from '../flow/start.ts';
import type { Pages } from '../pages/pages.ts';
import type { Passkeys } from '../passkeys/passkeys.ts';
import type { Erasure } from '../people/erasure.ts';
import type { SnapshotInvalidation } from '../people/snapshot-invalidation.ts';
import { createWithdrawal } from '../people/withdrawal.ts';
import type { VerificationStores } from '../store.ts';
import { createYourDataPages } from './pages.ts';
import type { yourDataRoutes } from './routes.ts';
import { createUserSignIn } from './sign-in.ts';
import { createYourData } from './your-data.ts';

interface Dependencies {
  /** Whether this installation has passkeys. */
  isOn: boolean;
  stores: Pick<VerificationStores, 'users' | 'enrollments' | 'sessions' | 'passkeys'>;
  passkeys: Passkeys;
  directory: Pick<ClientDirectory, 'client'>;
  invalidate: Pick<SnapshotInvalidation, 'enrollment'>;
  erasure: Pick<Erasure, 'erase'>;
  sharedOf: Parameters<typeof createYourData>[0]['sharedOf'];
  record: (entries: readonly AuditEntry[]) => Promise<void>;
  plain: Pages['plain'];
  imprint: Imprint;
  limit: RequestLimit;
  clock: { now(): number };
}

/** Makes the dependencies of the routes at `/verify/you`. */
export function createYourDataFeature(dependencies: Dependencies): Parameters<typeof yourDataRoutes>[0] {
  const { isOn, stores, passkeys, directory, invalidate, erasure, sharedOf, record, limit, clock } =
    dependencies;
  const { plain, imprint } = dependencies;
  const { users, enrollments, sessions, passkeys: store } = stores;
  return {
    isOn,
    limit,
    signIn: createUserSignIn({ passkeys, store, users, clock }),
    yourData: createYourData({
      enrollments,
      sessions,
      directory,
      passkeys,
      sharedOf,
      erasure,
      record,
      clock,
      withdraw: createWithdrawal({ enrollments, invalidate, clock }),
    }),
    pages: createYourDataPages({ plain, imprint }),
  };
}
