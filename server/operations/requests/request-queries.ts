import { pageFields } from '../../../contracts/admin/references.ts';
import {
  FoundRequests,
  ListRefused,
  ListRequests,
  RefusedRequests,
  RefusedView,
  RequestHistory,
  RequestReference,
  RequestView,
  SampledTotal,
} from '../../../contracts/admin/requests.ts';
import { seesPeople } from '../../platform/admin-api/personal-data.ts';
import { query, router } from '../../platform/admin-api/procedures.ts';
import { type Role, scopeOf } from '../../platform/admin-api/roles.ts';
import { viewAs } from '../../platform/admin-api/view.ts';
import type { Clock } from '../../platform/clock.ts';
import { type PartnerNames, withPartnerName } from '../../platform/database/partner-names.ts';
import { ApiError } from '../../platform/errors.ts';
import { withoutQuery } from '../../platform/telemetry/masked-address.ts';
import { viewEntries } from '../audit/audit-log.ts';
import type { Stores } from '../stores.ts';
import { createFindInactive } from './inactive-records.ts';
import { type RequestRecord, requestRetentionMs } from './request-store.ts';

/** Returns a redirect URI as this role sees it. Its query may contain personal data. */
function viewRedirectUri(role: Role, uri: string | undefined): string | null {
  if (uri === undefined) return null;
  return seesPeople(role) ? uri : withoutQuery(uri);
}

const viewRequest = (role: Role, record: RequestRecord): RequestView =>
  viewAs(RequestView, {
    ...record,
    id: record._id,
    redirectUri: viewRedirectUri(role, record.redirectUri),
  });

/** A row of the refused requests before the names of partners are added. */
const RefusalWithoutName = RefusedView.omit({ partnerName: true, sampledSince: true });

/** The procedures of `svcadmin request ID`, `svcadmin requests …` and `svcadmin tail`. */
export function createRequestProcedures(
  stores: Stores,
  clock: Pick<Clock, 'now'>,
  partnerNames: PartnerNames,
) {
  const { requests, gaps, audit } = stores.admin;
  const findInactive = createFindInactive(stores);

  /** Returns the start of a list. Rows are not shown after their retention, although the database deletes them later. */
  function startOf(since: string | undefined): string {
    const oldest = new Date(clock.now() - requestRetentionMs).toISOString();
    return since !== undefined && since > oldest ? since : oldest;
  }

  return router({
    show: query(RequestReference, RequestHistory, async ({ requestId }, { operator }) => {
      const [found, entries] = await Promise.all([
        requests.find(requestId, new Date(clock.now())),
        audit.ofRequest(requestId),
      ]);
      const changes = viewEntries(operator, entries);
      if (!found && changes.length === 0) {
        const seesOwnChangesOnly = scopeOf(operator.role, 'auditLog.list') === 'own';
        const scopeRemark = seesOwnChangesOnly
          ? '; changes by other operators are shown only for records of partners'
          : '';
        throw new ApiError('not_found', {
          description: `No request ${requestId}: kept for a week where it names a known client, key, integration or session, and a sample under load${scopeRemark}`,
        });
      }
      return {
        id: requestId,
        request: found ? viewRequest(operator.role, found) : null,
        inactive: found ? await findInactive(found) : null,
        changes,
      };
    }),

    list: query(ListRequests, FoundRequests, async ({ after, since, ...wanted }, { operator }) => {
      const last = after === undefined ? undefined : await requests.find(after, new Date(clock.now()));
      if (after !== undefined && !last) {
        throw new ApiError('not_found', { description: `No request ${after}` });
      }
      const counted = { ...wanted, since: startOf(since) };
      const [{ rows, stoppedAfter }, sampledSince] = await Promise.all([
        requests.list({ ...counted, after: last }),
        gaps.sampledSince(counted),
      ]);
      const views = rows.map((row) => viewRequest(operator.role, row));
      return { rows: await withPartnerName(views, partnerNames), stoppedAfter, sampledSince };
    }),

    count: query(ListRequests.omit(pageFields), SampledTotal, async ({ since, ...wanted }) => {
      const counted = { ...wanted, since: startOf(since) };
      const [total, sampledSince] = await Promise.all([requests.count(counted), gaps.sampledSince(counted)]);
      return { ...total, sampledSince };
    }),

    refused: query(ListRefused, RefusedRequests, async ({ since, ...wanted }) => {
      const { rows, countedSince } = await requests.refused({ ...wanted, since: startOf(since) });
      const from = countedSince.toISOString();
      const sampledSince = await gaps.sampledSince({ since: from, until: wanted.until, status: '4xx' });
      const views = rows.map((row) => ({ ...viewAs(RefusalWithoutName, row), sampledSince }));
      return { rows: await withPartnerName(views, partnerNames), countedSince: from };
    }),
  });
}
