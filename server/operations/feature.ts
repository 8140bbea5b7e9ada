import type { PartnerNames } from '../platform/database/partner-names.ts';
import { createUpgrade } from '../platform/database/schema/upgrade.ts';
import { createKeyRotation } from '../platform/keys/key-rotation.ts';
import { version } from '../platform/version.ts';
import { createAuditLog, createAuditLogProcedures } from './audit/audit-log.ts';
import type { Foundation } from './foundation.ts';
import { createKeyringProcedures } from './keyring.ts';
import type { Metrics } from './metrics/metrics.ts';
import { createAuthentication } from './operators/authentication.ts';
import { createOperatorProcedures } from './operators/operators.ts';
import { createRequestLog } from './requests/request-log.ts';
import { createRequestProcedures } from './requests/request-queries.ts';
import { createSchemaProcedures } from './schema/admin-schema.ts';
import { sealedFields } from './schema/collections.ts';
import { createSecretProcedures } from './secrets/secrets.ts';
import { createStatusProcedure, type StatusSources } from './status.ts';
import type { Stores } from './stores.ts';

interface Parts {
  stores: Stores;
  metrics: Metrics;
  partnerNames: PartnerNames;
  readQueue: StatusSources['readQueue'];
}

/** Makes what operators see of all features: the audit log, requests, the keyring and the status. */
export function createAdmin(foundation: Foundation, { stores, metrics, partnerNames, readQueue }: Parts) {
  const { config, db, clock, processes, logger: log, adminToken, databaseFault, pace } = foundation;
  const { environment, baseUrl } = config;
  const { audit, operators } = stores.admin;
  const about = { version, contract: '0.8.0', environment, baseUrl };
  const upgrade = createUpgrade(foundation);
  const rotation = createKeyRotation({ ...foundation, fields: sealedFields });
  const { observe, flush } = createRequestLog({
    stores,
    metrics,
    clock,
    log,
    flushEvery: pace.requestsEvery,
  });

  return {
    about,
    auditLog: createAuditLog(audit, clock, log),
    authenticate: createAuthentication({
      ...{ store: operators, firstToken: adminToken },
      ...{ clock, log, databaseFault },
    }),
    upgrade,
    /** The procedures of this feature in the admin API. */
    procedures: {
      operators: createOperatorProcedures(operators, clock),
      keyring: createKeyringProcedures(rotation, clock),
      auditLog: createAuditLogProcedures(stores),
      requests: createRequestProcedures(stores, clock, partnerNames),
      schema: createSchemaProcedures(upgrade, db),
      secrets: createSecretProcedures({ ...foundation, stores }, adminToken),
      status: createStatusProcedure({
        ...{ about, readQueue, readProcesses: processes.survey },
        ...{ clock, log, databaseFault },
      }),
    },
    /** Records and counts the responses of the public listener. Call this before its routes are registered. */
    observe,
    /** Writes the requests that are still buffered. Call this when the process stops. */
    flush,
  };
}
export type Admin = ReturnType<typeof createAdmin>;
