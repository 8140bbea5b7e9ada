import type { AdminApi } from '../connection/client.ts';
import {
  mostRowsPerList,
  type ReadReason,
  type Related,
  related,
  type Shown,
  withoutRepeats,
} from './related.ts';
import { fieldsBesideTimeline, renderSession } from './sessions.ts';

type Event = Awaited<ReturnType<AdminApi['events']['list']['query']>>[number];

const eventRows = (events: readonly Event[]): Related[] =>
  events.flatMap(({ id, event, status, deliveryIds }) => [
    ...related('event', id, `${event}, ${status}`),
    ...deliveryIds.flatMap((delivery) => related('delivery', delivery, `of ${id}`)),
  ]);

export async function showSession(api: AdminApi, sessionId: string): Promise<Shown> {
  const page = { sessionId, limit: mostRowsPerList };
  const [record, events, requests] = await Promise.all([
    api.sessions.show.query({ sessionId }),
    api.events.list.query(page),
    api.requests.list.query(page),
  ]);
  const { partnerId, clientId, keyId, enrollmentId, sub, code } = record;
  return {
    record,
    fields: fieldsBesideTimeline(record),
    lines: renderSession(record),
    related: [
      ...related('partner', partnerId),
      ...related('client', clientId),
      ...related('API key', keyId),
      ...related('enrollment', enrollmentId),
      ...related('subject', sub, 'what the partner knows the user by'),
      ...related('entry', code?.charge?.id, 'the charge for its code'),
      ...eventRows(events),
      ...requests.rows.flatMap(({ id, method, route, status }) =>
        related('request', id, `${method} ${route} ${status}`),
      ),
    ],
    next: [`requests list --partner ${partnerId} --client ${clientId} --path /api`],
  };
}

export async function showEnrollment(
  api: AdminApi,
  enrollmentId: string,
  auditReason: ReadReason,
): Promise<Shown> {
  const record = await api.enrollments.show.query({ enrollmentId, ...auditReason });
  const { partnerId, clientId, sub, firstSession } = record;
  const [events, sessions] = await Promise.all([
    api.events.list.query({ enrollmentId, limit: mostRowsPerList }),
    api.sessions.list.query({ enrollmentId, limit: mostRowsPerList }),
  ]);
  return {
    record,
    related: withoutRepeats([
      ...related('partner', partnerId),
      ...related('client', clientId),
      ...related('subject', sub, 'what the partner knows the user by'),
      ...sessions.rows.flatMap(({ id, status, reason }) => related('session', id, reason ?? status)),
      // The first session may be too old for the list above.
      ...related('session', firstSession, 'made it'),
      ...eventRows(events),
    ]),
    next: [`users show ${enrollmentId}`],
  };
}

/** Reads a user. @param user `usr_…`, the id of a passkey, or the `sub` that a partner knows */
export async function showUser(api: AdminApi, user: string, auditReason: ReadReason): Promise<Shown> {
  const record = await api.users.show.query({ user, ...auditReason });
  const { enrollments: _enrollments, passkeys, ...fields } = record;
  return {
    record,
    fields,
    related: withoutRepeats([
      ...record.enrollments.flatMap(({ id, partnerId, clientId, sub, status }) => [
        ...related('enrollment', id, status),
        ...related('partner', partnerId),
        ...related('client', clientId),
        ...related('subject', sub, `at ${partnerId}`),
      ]),
      ...passkeys.flatMap(({ id, synced }) =>
        related('passkey', id, synced ? 'on several devices' : 'on one device'),
      ),
    ]),
    // Some examples are enough, because all enrollments are listed above.
    next: record.enrollments.slice(0, 3).map(({ id }) => `sessions list --enrollment ${id}`),
  };
}
