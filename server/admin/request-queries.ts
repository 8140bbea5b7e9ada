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
import type { Role } from '../platform/admin-api/roles.ts';
import type { Clock } from '../platform/clock.ts';
import { type PartnerNames, withPartnerName } from '../platform/database/partner-names.ts';
import { ApiError } from '../platform/errors.ts';
import { withoutQuery } from '../platform/telemetry/sent-text.ts';
import { viewEntry } from './audit-log.ts';
import type { AuditStore } from './audit-store.ts';
import { type RequestRecord, type RequestStore, requestRetentionMs } from './request-store.ts';

/** Returns a request as an operator of this role sees it. */
function viewRequest(role: Role, { _id, at, purgeAt: _purgeAt, ...record }: RequestRecord): RequestView {
  const {
    error = null,
    description = null,
    partnerId = null,
    keyId = null,
    clientId = null,
    sessionId = null,
    integrationId = null,
    address = null,
    retryAfter = null,
    redirectUri,
    shop = null,
    ...rest
  } = record;
  return {
    ...rest,
    id: _id,
    at: at.toISOString(),
    error,
    description,
    partnerId,
    keyId,
    clientId,
    sessionId,
    integrationId,
    address,
    retryAfter,
    shop,
    redirectUri:
      redirectUri === undefined ? null : seesPeople(role) ? redirectUri : withoutQuery(redirectUri),
  };
}

interface Sources {
  requests: RequestStore;
  audit: Pick<AuditStore, 'ofRequest'>;
  clock: Pick<Clock, 'now'>;
  /** Returns the names of partners by their ids. */
  partnerNames: PartnerNames;
}

/** The procedures of `svcadmin request ID`, `svcadmin requests …` and `svcadmin tail`. */
export function createRequestProcedures({ requests, audit, clock, partnerNames }: Sources) {
  /** The earliest time that a list reaches back to. Older rows exist until the database deletes them. */
  const oldest = () => new Date(clock.now() - requestRetentionMs).toISOString();
  /** Returns the later of a wanted time and the earliest possible time. */
  const from = (since: string | undefined): string => {
    const first = oldest();
    return since !== undefined && since > first ? since : first;
  };

  return router({
    show: procedure
      .input(RequestReference)
      .output(RequestHistory)
      .query(async ({ input: { requestId }, ctx }) => {
        const [found, changes] = await Promise.all([
          requests.find(requestId, new Date(clock.now())),
          audit.ofRequest(requestId),
        ]);
        if (!found && changes.length === 0) {
          throw new ApiError('not_found', {
            description: `No request ${requestId}: kept for a week where it names a known client, key, integration or session, and a sample under load`,
          });
        }
        return {
          id: requestId,
          request: found ? viewRequest(ctx.operator.role, found) : null,
          changes: changes.map(viewEntry),
        };
      }),

    list: procedure
      .input(ListRequests)
      .output(FoundRequests)
      .query(async ({ input: { after, since, ...wanted }, ctx }) => {
        const last = after === undefined ? undefined : await requests.find(after, new Date(clock.now()));
        if (after !== undefined && !last) {
          throw new ApiError('not_found', { description: `No request ${after}` });
        }
        const { rows, stoppedAfter } = await requests.list({ ...wanted, since: from(since), after: last });
        const views = rows.map((row) => viewRequest(ctx.operator.role, row));
        return { rows: await withPartnerName(views, partnerNames), stoppedAfter };
      }),

    count: procedure
      .input(ListRequests.omit(pageFields))
      .output(Total)
      .query(({ input: { since, ...wanted } }) => requests.count({ ...wanted, since: from(since) })),

    refused: procedure
      .input(ListRefused)
      .output(RefusedExchanges)
      .query(async ({ input: { since, ...wanted } }) => {
        const { rows, countedSince } = await requests.refused({ ...wanted, since: from(since) });
        const views = rows.map(({ firstAt, lastAt, partnerId, limit, ...row }) => ({
          ...row,
          limit: limit ?? null,
          partnerId: partnerId ?? null,
          firstAt: firstAt.toISOString(),
          lastAt: lastAt.toISOString(),
        }));
        return {
          rows: await withPartnerName(views, partnerNames),
          countedSince: countedSince.toISOString(),
        };
      }),
  });
}
