import { pageFields, Total } from '../../contracts/admin/references.ts';
import {
  FoundRequests,
  ListRefused,
  ListRequests,
  RefusedExchanges,
  RequestHistory,
  RequestReference,
  type RequestView,
} from '../../contracts/admin/requests.ts';
import { seesPeople } from '../platform/admin-api/personal-data.ts';
import { procedure, router } from '../platform/admin-api/procedures.ts';
import { type Role, scopeOf } from '../platform/admin-api/roles.ts';
import type { Clock } from '../platform/clock.ts';
import { type PartnerNames, withPartnerName } from '../platform/database/partner-names.ts';
import { ApiError } from '../platform/errors.ts';
import { withoutQuery } from '../platform/telemetry/masked-address.ts';
import { viewEntries } from './audit-log.ts';
import type { AuditStore } from './audit-store.ts';
import { type RequestRecord, type RequestStore, requestRetentionMs } from './request-store.ts';

/** Returns a redirect URI as this role sees it. Its query may contain personal data. */
function viewRedirectUri(role: Role, uri: string | undefined): string | null {
  if (uri === undefined) return null;
  return seesPeople(role) ? uri : withoutQuery(uri);
}

/** Returns a request as an operator of this role sees it. */
const viewRequest = (role: Role, record: RequestRecord): RequestView => ({
  id: record._id,
  at: record.at.toISOString(),
  method: record.method,
  route: record.route,
  status: record.status,
  durationMs: record.durationMs,
  error: record.error ?? null,
  description: record.description ?? null,
  partnerId: record.partnerId ?? null,
  keyId: record.keyId ?? null,
  clientId: record.clientId ?? null,
  sessionId: record.sessionId ?? null,
  integrationId: record.integrationId ?? null,
  address: record.address ?? null,
  retryAfter: record.retryAfter ?? null,
  shop: record.shop ?? null,
  redirectUri: viewRedirectUri(role, record.redirectUri),
});

interface Sources {
  requests: RequestStore;
  audit: Pick<AuditStore, 'ofRequest'>;
  clock: Pick<Clock, 'now'>;
  /** Returns the names of partners by their ids. */
  partnerNames: PartnerNames;
}

/** The procedures of `svcadmin request ID`, `svcadmin requests …` and `svcadmin tail`. */
export function createRequestProcedures({ requests, audit, clock, partnerNames }: Sources) {
  /** Returns the start of a list. Rows are not shown after their retention, although the database deletes them later. */
  function startOf(since: string | undefined): string {
    const oldest = new Date(clock.now() - requestRetentionMs).toISOString();
    return since !== undefined && since > oldest ? since : oldest;
  }

  return router({
    show: procedure
      .input(RequestReference)
      .output(RequestHistory)
      .query(async ({ input: { requestId }, ctx }) => {
        const [found, entries] = await Promise.all([
          requests.find(requestId, new Date(clock.now())),
          audit.ofRequest(requestId),
        ]);
        const changes = viewEntries(ctx.operator, entries);
        if (!found && changes.length === 0) {
          const seesOwnChangesOnly = scopeOf(ctx.operator.role, 'auditLog.list') === 'own';
          const scopeRemark = seesOwnChangesOnly
            ? '; changes by other operators are shown only for records of partners'
            : '';
          throw new ApiError('not_found', {
            description: `No request ${requestId}: kept for a week where it names a known client, key, integration or session, and a sample under load${scopeRemark}`,
          });
        }
        return { id: requestId, request: found ? viewRequest(ctx.operator.role, found) : null, changes };
      }),

    list: procedure
      .input(ListRequests)
      .output(FoundRequests)
      .query(async ({ input: { after, since, ...wanted }, ctx }) => {
        const last = after === undefined ? undefined : await requests.find(after, new Date(clock.now()));
        if (after !== undefined && !last) {
          throw new ApiError('not_found', { description: `No request ${after}` });
        }
        const { rows, stoppedAfter } = await requests.list({ ...wanted, since: startOf(since), after: last });
        const views = rows.map((row) => viewRequest(ctx.operator.role, row));
        return { rows: await withPartnerName(views, partnerNames), stoppedAfter };
      }),

    count: procedure
      .input(ListRequests.omit(pageFields))
      .output(Total)
      .query(({ input: { since, ...wanted } }) => requests.count({ ...wanted, since: startOf(since) })),

    refused: procedure
      .input(ListRefused)
      .output(RefusedExchanges)
      .query(async ({ input: { since, ...wanted } }) => {
        const { rows, countedSince } = await requests.refused({ ...wanted, since: startOf(since) });
        const views = rows.map(({ firstAt, lastAt, partnerId, limit, ...row }) => ({
          ...row,
          limit: limit ?? null,
          partnerId: partnerId ?? null,
          firstAt: firstAt.toISOString(),
          lastAt: lastAt.toISOString(),
        }));
        return { rows: await withPartnerName(views, partnerNames), countedSince: countedSince.toISOString() };
      }),
  });
}
