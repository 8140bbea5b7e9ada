import { BillableKind } from '../../contracts/charge.ts';
import type { AdminApi } from '../connection/client.ts';
import { explainStatus } from './refusal.ts';
import {
  mostRowsPerList,
  type ReadReason,
  related,
  relatedActor,
  type Shown,
  withoutRepeats,
} from './related.ts';

export async function showEvent(api: AdminApi, eventId: string, auditReason: ReadReason): Promise<Shown> {
  const { attempts, ...record } = await api.events.show.query({ eventId, ...auditReason });
  const { partnerId, keyId, sessionId, enrollmentId, sub, deliveryIds } = record;
  return {
    record: { ...record, attempts: attempts.length },
    related: [
      ...related('partner', partnerId),
      ...related('API key', keyId, 'gets it'),
      ...related('session', sessionId),
      ...related('enrollment', enrollmentId),
      ...related('subject', sub, 'its user_id'),
      ...deliveryIds.flatMap((id) => related('delivery', id)),
    ],
    next: [`events why ${eventId}`],
  };
}

export async function showDelivery(api: AdminApi, deliveryId: string): Promise<Shown> {
  const { attempts, ...record } = await api.deliveries.show.query({ deliveryId });
  const { eventId, event, partnerId, keyId, resendOf } = record;
  return {
    record: { ...record, attempts: attempts.length },
    related: [
      ...related('event', eventId, event),
      ...related('partner', partnerId),
      ...related('API key', keyId),
      ...related('delivery', resendOf, 'sent again by this one'),
    ],
    next: [`events why ${eventId}`, `deliveries show ${deliveryId}`],
  };
}

export async function showBulkJob(api: AdminApi, bulkId: string): Promise<Shown> {
  const { keys, ...record } = await api.bulk.show.query({ bulkId });
  return {
    record: { ...record, keys: keys.length },
    related: withoutRepeats([
      ...related('operator', record.operatorId, 'started it'),
      ...keys
        .slice(0, mostRowsPerList)
        .flatMap(({ keyId, done, total }) => related('API key', keyId, `${done} of ${total}`)),
    ]),
    next: [`bulk show ${bulkId}`],
  };
}

export async function showEntry(api: AdminApi, entryId: string): Promise<Shown> {
  const record = await api.wallets.entry.query({ entryId });
  const { partnerId, walletId, mode, at, kind } = record;
  const isCharge = BillableKind.safeParse(kind).success;
  // The newest of these changes before the charge made its price.
  const prices = `audit-log list --target ${partnerId} --action prices.set --until ${at}`;
  return {
    record,
    related: [
      ...related('partner', partnerId),
      ...related('wallet', walletId),
      ...related('client', record.clientId),
      ...related('session', record.sessionId, 'its code was exchanged'),
      ...related('enrollment', record.enrollmentId),
      ...related('entry', record.of, 'the charge that it gives back'),
      ...related('entry', record.givenBackBy, 'the refund that gave it back'),
      ...relatedActor(record.actor),
    ],
    next: [
      `wallets statement ${partnerId} --mode ${mode} --from ${at.slice(0, 10)}`,
      ...(isCharge ? [prices] : []),
    ],
  };
}

export async function showRequest(api: AdminApi, requestId: string): Promise<Shown> {
  const record = await api.requests.show.query({ requestId });
  const { request, inactive, changes } = record;
  const { lines, next } = explainStatus(record);
  return {
    // A request of an operator is not in the request log. It is known by its changes in the audit log.
    record: request ?? { id: requestId, changes: changes.map(({ action }) => action) },
    lines,
    related: withoutRepeats([
      ...(inactive ?? []).flatMap(({ kind, id, name, status, since }) =>
        related(kind, id, [status, since && `since ${since}`, name].filter(Boolean).join(', ')),
      ),
      ...related('partner', request?.partnerId),
      ...related('API key', request?.keyId),
      // The next three are as the caller sent them, so there may be no such records.
      ...related('client', request?.clientId),
      ...related('session', request?.sessionId),
      ...related('integration', request?.integrationId),
      ...changes.flatMap(({ target, action, operatorId }) => [
        ...related('changed', target, action),
        ...relatedActor(operatorId),
      ]),
    ]),
    next: [...next, ...(request?.error ? [`error ${request.error}`] : [])],
  };
}

export async function showJob(api: AdminApi, jobId: string): Promise<Shown> {
  const { attempts, deliveryIds: _ids, ...record } = await api.jobs.show.query({ jobId });
  return {
    record,
    related: attempts.flatMap(({ deliveryId }) => related('delivery', deliveryId)),
    next: [`jobs show ${jobId}`],
  };
}
