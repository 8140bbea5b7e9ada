import type { AnyRouter } from '@trpc/server';
import type { FastifyPluginAsync } from 'fastify';
import type { EndpointHealth } from '../../contracts/admin/endpoint-health.ts';
import type { ShardsView } from '../../contracts/admin/schema.ts';
import type { FindSecret } from '../../contracts/admin/secrets.ts';
import type { Clock } from '../platform/clock.ts';
import type { ReadDatabaseFault } from '../platform/database/availability.ts';
import type { PartnerNames } from '../platform/database/partner-names.ts';
import type { Upgrade } from '../platform/database/upgrade.ts';
import type { KeyRotation } from '../platform/keys/key-rotation.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import { createAuditLog, createAuditLogProcedures } from './audit-log.ts';
import { createAuthentication } from './authentication.ts';
import { createKeyringProcedures } from './keyring.ts';
import type { Metrics } from './metrics.ts';
import { createOperatorProcedures, createOperators } from './operators.ts';
import type { OpsApi } from './ops-api.ts';
import { opsRoutes, processMetricsRoutes } from './ops-routes.ts';
import { createRequestLog } from './request-log.ts';
import type { NameLists, NameOwner } from './request-names.ts';
import { createRequestProcedures } from './request-queries.ts';
import { adminRoutes } from './routes.ts';
import { createSchemaProcedures } from './schema.ts';
import { createSecretProcedures, type FoundSecret } from './secrets.ts';
import { createStatusProcedure, type StatusSources } from './status.ts';
import type { AdminStores } from './store.ts';

interface Dependencies {
  stores: AdminStores;
  clock: Clock;
  log: Logger;
  /** The value of SVC_ADMIN_TOKEN, or the generated token. Undefined if the token is retired. */
  firstToken: string | undefined;
  metrics: Metrics;
  /** The time for which requests are collected before they are written, in milliseconds. */
  requestsEvery: number;
  /** Returns the owner of each given name that exists. */
  existing: (names: NameLists) => Promise<ReadonlyMap<string, NameOwner>>;
  /** Returns the names of partners by their ids. */
  partnerNames: PartnerNames;
  status: Omit<StatusSources, 'clock'>;
  /** Returns the webhook endpoints in trouble, the worst first. */
  readEndpoints: () => Promise<EndpointHealth[]>;
  rotation: KeyRotation;
  upgrade: Upgrade;
  /** Returns how the collections of a sharded cluster differ from what they should be. */
  shards: () => Promise<ShardsView>;
  /** Returns the owner of a secret by the hash of the secret. */
  findSecret: (wanted: FindSecret) => Promise<FoundSecret | undefined>;
  /** Returns the ids of a user and the user's enrollments, which are targets of audit entries. */
  recordsOfUser: (user: string) => Promise<string[]>;
  /** Returns why the database is unavailable; undefined if it is available. */
  databaseFault: ReadDatabaseFault;
}

/** Makes the admin API and the pages that operators see. */
export function createAdmin({
  stores,
  clock,
  log,
  firstToken,
  metrics,
  requestsEvery,
  existing,
  partnerNames,
  status,
  readEndpoints,
  rotation,
  upgrade,
  shards,
  findSecret,
  databaseFault,
  recordsOfUser,
}: Dependencies) {
  const auditLog = createAuditLog({ store: stores.audit, clock, log });
  const procedures = {
    operators: createOperatorProcedures(createOperators({ store: stores.operators, clock })),
    keyring: createKeyringProcedures(rotation, clock),
    auditLog: createAuditLogProcedures(stores.audit, recordsOfUser),
    requests: createRequestProcedures({
      requests: stores.requests,
      audit: stores.audit,
      clock,
      partnerNames,
    }),
    schema: createSchemaProcedures(upgrade, shards),
    secrets: createSecretProcedures({ find: findSecret, firstToken }),
    status: createStatusProcedure({ ...status, clock, log, databaseFault }),
  };
  const authenticate = createAuthentication({
    store: stores.operators,
    clock,
    firstToken,
    log,
    databaseFault,
  });
  const { observe, flush } = createRequestLog({
    store: stores.requests,
    metrics,
    clock,
    log,
    flushEvery: requestsEvery,
    existing,
  });

  return {
    /** The procedures of this feature in the admin API. */
    procedures,
    auditLog,
    /**
     * Returns the routes to register on the admin listener.
     * @param api the whole admin API, and a caller of it with the role ops
     */
    routesOf:
      ({ router, ops }: { router: AnyRouter; ops: OpsApi }): FastifyPluginAsync =>
      async (scope) => {
        await scope.register(
          adminRoutes({ environment: status.about.environment, router, authenticate, clock, auditLog }),
        );
        await scope.register(
          opsRoutes({
            authenticate,
            overview: stores.overview,
            backlog: stores.backlog,
            readEndpoints,
            api: ops,
            metrics,
            clock,
            log,
            databaseFault,
            guides: `${status.about.baseUrl}/docs`,
          }),
        );
      },
    /** The routes to register on the health listener. */
    metricsRoutes: processMetricsRoutes({ authenticate, metrics }),
    /** Records and counts the responses of the public listener. Call this before its routes are registered. */
    observe,
    /** Writes the requests that are still buffered. Call this when the process stops. */
    flush,
  };
}
export type Admin = ReturnType<typeof createAdmin>;
