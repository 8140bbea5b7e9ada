import { shardKey as ledger } from '../../billing/ledger/ledger-store.ts';
import { shardKey as revocations } from '../../billing/revocation-store.ts';
import { shardKey as enrollments } from '../../people/enrollments/enrollment-store.ts';
import { shardKey as passkeys } from '../../people/passkeys/passkey-store.ts';
import { shardKey as users } from '../../people/users/user-store.ts';
import type { ShardDeclaration } from '../../platform/database/schema/sharding.ts';
import { shardKey as requestCounters } from '../../platform/http/limits/request-counters.ts';
import { shardKey as sessions } from '../../sessions/session-store.ts';
import { shardKey as deliveries } from '../../webhooks/delivery/delivery-store.ts';
import { shardKey as events } from '../../webhooks/delivery/event-store.ts';
import { shardKey as requestLog } from '../requests/request-store.ts';

/** The shard keys of collections, for a database that is a sharded cluster. */
export const shardKeys: readonly ShardDeclaration[] = [
  ledger,
  sessions,
  users,
  enrollments,
  passkeys,
  events,
  deliveries,
  revocations,
  requestCounters,
  requestLog,
];

const byCustomers = 'as many documents as there are partners, or few for each';

/** Collections that stay on the primary shard of the database, each with the reason. */
export const unsharded: Readonly<Record<string, string>> = {
  partners: byCustomers,
  apiKeys: `a key is unique by its hash; ${byCustomers}`,
  clients: byCustomers,
  integrations: byCustomers,
  logos: byCustomers,
  members: `a passkey is unique by its id; ${byCustomers}`,
  memberSessions: 'a few documents for each member, deleted within hours',
  deviceRequests: 'its documents are deleted within minutes',
  ownerEnds: 'at most one document for each partner',
  operators: 'a token is unique by its hash; as many documents as there are operators',
  auditLog: 'grows with what operators do',
  ledgerCheckpoints: 'two documents for each partner',
  walletSummaries: 'two documents for each partner',
  keys: 'a handful of documents',
  meta: 'a handful of documents',
  warnings: 'a few documents for each partner, deleted within a month',
  warningTurns: 'one document',
  requestGaps: 'a document for each minute in which requests were dropped from the log, deleted after a week',
  serviceHours: 'a document for each hour of 91 days',
  bulkJobs: 'one document for each bulk job of an operator',
  bulkPaces: 'its documents are deleted within hours',
  processes: 'its documents are deleted within hours',
  jobs: 'the scheduler locks one job of all',
};
