import type { ShardsView } from '../../contracts/admin/schema.ts';
import type { Clock } from '../platform/clock.ts';
import type { PartnerNames } from '../platform/database/partner-names.ts';
import type { Upgrade } from '../platform/database/schema/upgrade.ts';
import type { KeyRotation } from '../platform/keys/key-rotation.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import { createAuditLog, createAuditLogProcedures } from './audit/audit-log.ts';
import { createKeyringProcedures } from './keyring.ts';
import type { Metrics } from './metrics/metrics.ts';
import { type AuthenticationDependencies, createAuthentication } from './operators/authentication.ts';
import { createOperatorProcedures } from './operators/operators.ts';
import { createRequestLog, type RequestLogDependencies } from './requests/request-log.ts';
import { createRequestProcedures, type RequestDependencies } from './requests/request-queries.ts';
import { createSchemaProcedures } from './schema/admin-schema.ts';
import { createSecretProcedures, type SecretDependencies } from './secrets/secrets.ts';
import { createStatusProcedure, type StatusSources } from './status.ts';
import type { AdminStores } from './store.ts';

interface Dependencies
  extends Pick<AuthenticationDependencies, 'firstToken' | 'databaseFault'>,
    Pick<RequestLogDependencies, 'flushEvery' | 'existing'>,
    Pick<RequestDependencies, 'findInactive'>,
    Pick<SecretDependencies, 'findSecret'> {
  stores: AdminStores;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  partnerNames: PartnerNames;
  status: Omit<StatusSources, 'clock'>;
  rotation: KeyRotation;
  upgrade: Upgrade;
  /** Returns how the collections of a sharded cluster differ from what they should be. */
  shards: () => Promise<ShardsView>;
  /** Returns the ids of a user and the user's enrollments, which are targets of audit entries. */
  recordsOfUser: (user: string) => Promise<string[]>;
}

/** Makes what operators see of all features: the audit log, requests, the keyring and the status. */
export function createAdmin(dependencies: Dependencies) {
  const { stores, clock, status } = dependencies;
  const auditLog = createAuditLog({ ...dependencies, store: stores.audit });
  const procedures = {
    operators: createOperatorProcedures(stores.operators, clock),
    keyring: createKeyringProcedures(dependencies.rotation, clock),
    auditLog: createAuditLogProcedures(stores.audit, dependencies.recordsOfUser, stores.operators.exists),
    requests: createRequestProcedures({ ...dependencies, ...stores }),
    schema: createSchemaProcedures(dependencies.upgrade, dependencies.shards),
    secrets: createSecretProcedures(dependencies),
    status: createStatusProcedure({ ...dependencies, ...status }),
  };
  const authenticate = createAuthentication({ ...dependencies, store: stores.operators });
  const { observe, flush } = createRequestLog({ ...dependencies, store: stores.requests, gaps: stores.gaps });

  return {
    /** The procedures of this feature in the admin API. */
    procedures,
    auditLog,
    authenticate,
    /** Records and counts the responses of the public listener. Call this before its routes are registered. */
    observe,
    /** Writes the requests that are still buffered. Call this when the process stops. */
    flush,
  };
}
export type Admin = ReturnType<typeof createAdmin>;
