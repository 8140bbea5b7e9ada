import type { Server } from './partner.ts';

/** The ids of existing records, which the queries ask for. */
export interface Known {
  partnerId: string;
  keyId: string;
  clientId: string;
  sessionId: string;
  enrollmentId: string;
  sub: string;
  eventId: string;
  deliveryId: string;
  jobId: string | undefined;
  entryId: string;
  integrationId: string | undefined;
  requestId: string;
}

export type Queries = Record<string, (() => Promise<unknown>) | undefined>;

/**
 * Returns every query of the admin API, by the name of its procedure. A word after the name distinguishes queries of one
 * procedure. A query is undefined if it reads nothing from the database, or if this database has no such record.
 */
export function adminQueries(admin: Server['admin'], known: Known): Queries {
  const { partnerId, keyId, clientId, sessionId, enrollmentId, sub, eventId, deliveryId } = known;
  const { jobId, entryId, integrationId, requestId } = known;
  const since = new Date(Date.now() - 86_400_000).toISOString();
  const until = new Date(Date.now() + 60_000).toISOString();
  const wallet = { partnerId, mode: 'test' as const };
  const page = { limit: 50 };
  return {
    'partners.list': () => admin.partners.list.query(page),
    'partners.count': () => admin.partners.count.query({}),
    'partners.show': () => admin.partners.show.query({ partnerId }),
    'partners.check': undefined,
    'partners.search': () => admin.partners.search.query({ text: 'acme' }),
    'partners.search id': () => admin.partners.search.query({ text: clientId }),
    'partners.search last4': () => admin.partners.search.query({ text: 'aB3d' }),
    'brands.list': () => admin.brands.list.query(page),
    'brands.list partner': () => admin.brands.list.query({ partnerId, ...page }),
    // Nothing waits for approval, so the answer is an error after the reads.
    'brands.show': () => admin.brands.show.query({ brandId: clientId }).catch(() => undefined),
    'keys.list partner': () => admin.keys.list.query({ partnerId, ...page }),
    'keys.count': () => admin.keys.count.query({ partnerId }),
    'keys.show': () => admin.keys.show.query({ keyId }),
    'clients.list partner': () => admin.clients.list.query({ partnerId, ...page }),
    'clients.count': () => admin.clients.count.query({ partnerId }),
    'clients.show': () => admin.clients.show.query({ clientId }),
    'webhooks.show': () => admin.webhooks.show.query({ keyId }),
    'webhooks.health': () => admin.webhooks.health.query({}),
    'webhooks.health key': () => admin.webhooks.health.query({ keyId }),
    'webhooks.relay': () => admin.webhooks.relay.query({ keyId, since }),
    'webhooks.verify': undefined,
    'integrations.list partner': () => admin.integrations.list.query({ partnerId, ...page }),
    'integrations.count': () => admin.integrations.count.query({ partnerId }),
    'integrations.show': integrationId ? () => admin.integrations.show.query({ integrationId }) : undefined,
    'members.list': () => admin.members.list.query({ partnerId, status: 'active', ...page }),
    'members.count': () => admin.members.count.query({ partnerId }),
    'members.show': () =>
      admin.members.show.query({ memberId: 'mem_0000000000000000000000' }).catch(() => undefined),
    'members.wishes': () =>
      admin.members.wishes.query({ memberId: 'mem_0000000000000000000000' }).catch(() => undefined),
    'members.acts': () => admin.members.acts.query({ partnerId, ...page }),
    'warnings.list': () => admin.warnings.list.query({ state: 'raised', ...page }),
    'warnings.list partner': () => admin.warnings.list.query({ partnerId, state: 'over' }),
    'warnings.count': () => admin.warnings.count.query({ partnerId }),
    'warnings.settings': () => admin.warnings.settings.query({ partnerId }),
    'wallets.list': () => admin.wallets.list.query(page),
    'wallets.list below': () => admin.wallets.list.query({ mode: 'test', below: 100_000 }),
    'wallets.list days': () => admin.wallets.list.query({ daysLeft: 3_650 }),
    'wallets.count': () => admin.wallets.count.query({ mode: 'test', below: 100_000 }),
    'wallets.show': () => admin.wallets.show.query(wallet),
    'wallets.entry': () => admin.wallets.entry.query({ entryId }),
    'wallets.statement': () => admin.wallets.statement.query({ ...wallet, ...page }),
    'wallets.usage': () => admin.wallets.usage.query(wallet),
    'wallets.signedStatement': () => admin.wallets.signedStatement.query(wallet),
    'wallets.audit': () => admin.wallets.audit.query({ partnerId }),
    'limits.show': () => admin.limits.show.query(wallet),
    'prices.show': () => admin.prices.show.query({ partnerId }),
    'revenue.show': () => admin.revenue.show.query({ from: since }),
    'revenue.show partner': () => admin.revenue.show.query({ from: since, to: until, partnerId }),
    'sources.list': () => admin.sources.list.query(),
    'sources.check': undefined,
    'sessions.list': () => admin.sessions.list.query({ since }),
    'sessions.list partner': () => admin.sessions.list.query({ partnerId, status: 'failed', since, until }),
    'sessions.list client': () =>
      admin.sessions.list.query({ clientId, status: 'expired', after: sessionId }),
    'sessions.list reference': () => admin.sessions.list.query({ clientReferenceId: 'order-17', partnerId }),
    'sessions.count': () => admin.sessions.count.query({ partnerId, status: 'failed', since }),
    'sessions.show': () => admin.sessions.show.query({ sessionId }),
    'enrollments.list': () => admin.enrollments.list.query({ partnerId, ...page }),
    'enrollments.list blocked': () => admin.enrollments.list.query({ status: 'blocked', ...page }),
    'enrollments.count blocked': () => admin.enrollments.count.query({ status: 'blocked' }),
    'enrollments.list sub': () => admin.enrollments.list.query({ partnerId, sub, ...page }),
    'enrollments.count': () => admin.enrollments.count.query({ partnerId }),
    'enrollments.show': () => admin.enrollments.show.query({ enrollmentId }),
    'users.find': () => admin.users.find.query({ of: enrollmentId }),
    'users.find sub': () => admin.users.find.query({ of: sub }),
    'users.find session': () => admin.users.find.query({ of: sessionId }),
    'users.find customer': () =>
      admin.users.find.query({ customer: { clientId, shop: 'a.example', customerId: '1' } }),
    'users.holds': () => admin.users.holds.query(page),
    'users.show': () => admin.users.show.query({ user: enrollmentId }),
    'events.list': () => admin.events.list.query(page),
    'events.list after': () => admin.events.list.query({ ...page, after: eventId }),
    'events.list partner': () => admin.events.list.query({ partnerId, ...page }),
    'events.list key': () => admin.events.list.query({ keyId, since, until, ...page }),
    'events.list session': () => admin.events.list.query({ sessionId, ...page }),
    'events.list sub': () => admin.events.list.query({ sub, ...page }),
    'events.count': () => admin.events.count.query({ partnerId, since }),
    'events.show': () => admin.events.show.query({ eventId }),
    'events.why': () => admin.events.why.query({ eventId }),
    'deliveries.list': () => admin.deliveries.list.query(page),
    'deliveries.list after': () => admin.deliveries.list.query({ ...page, after: deliveryId }),
    'deliveries.list partner': () => admin.deliveries.list.query({ partnerId, ...page }),
    'deliveries.list key': () => admin.deliveries.list.query({ keyId, since, until, ...page }),
    'deliveries.list failed': () => admin.deliveries.list.query({ status: 'failed', ...page }),
    'deliveries.list waiting': () => admin.deliveries.list.query({ status: 'waiting', ...page }),
    'deliveries.list event': () => admin.deliveries.list.query({ eventId, ...page }),
    'deliveries.schedule': () => admin.deliveries.schedule.query({}),
    'deliveries.schedule key': () => admin.deliveries.schedule.query({ keyId, since, by: ['hour', 'why'] }),
    'deliveries.count': () => admin.deliveries.count.query({ keyId, status: 'failed', since }),
    'deliveries.show': () => admin.deliveries.show.query({ deliveryId }),
    'bulk.list': () => admin.bulk.list.query(page),
    'bulk.show': () => admin.bulk.show.query({ bulkId: 'blk_0000000000000000000000' }).catch(() => undefined),
    'jobs.count': () => admin.jobs.count.query({}),
    'jobs.list': () => admin.jobs.list.query(page),
    'jobs.show': jobId ? () => admin.jobs.show.query({ jobId }) : undefined,
    'operators.list': () => admin.operators.list.query(page),
    'operators.count': () => admin.operators.count.query({}),
    'operators.roles': undefined,
    'operators.show': () => admin.operators.show.query({ operatorId: 'opr_first' }).catch(() => undefined),
    'operators.whoami': () => admin.operators.whoami.query(),
    'auditLog.list': () => admin.auditLog.list.query(page),
    'auditLog.count': () => admin.auditLog.count.query({ target: partnerId }),
    'auditLog.list target': () => admin.auditLog.list.query({ target: partnerId, ...page }),
    'auditLog.list partner': () => admin.auditLog.list.query({ partnerId, ...page }),
    'auditLog.list delivery': () => admin.auditLog.list.query({ target: `dlv_${'0'.repeat(22)}`, ...page }),
    'auditLog.list actor': () => admin.auditLog.list.query({ actor: 'opr_first', ...page }),
    // Not measured, because it reads every sealed value, and an owner calls it only a few times a year.
    'keyring.list': undefined,
    'secrets.find': () =>
      admin.secrets.find.query({ kind: 'clientSecret', hash: 'x'.repeat(43) }).catch(() => undefined),
    'schema.show': () => admin.schema.show.query(),
    'schema.shards': () => admin.schema.shards.query(),
    'requests.list': () => admin.requests.list.query({ status: '4xx', path: '/api' }),
    'requests.list partner': () => admin.requests.list.query({ partnerId, error: 'invalid_grant' }),
    'requests.list session': () => admin.requests.list.query({ sessionId }),
    'requests.count': () => admin.requests.count.query({ partnerId, status: '4xx' }),
    'requests.refused': () => admin.requests.refused.query({ since }),
    'requests.refused partner': () => admin.requests.refused.query({ since, partnerId }),
    'requests.show': () => admin.requests.show.query({ requestId }),
    status: () => admin.status.query(),
  };
}
