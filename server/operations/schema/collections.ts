import * as ledger from '../../billing/ledger/ledger-store.ts';
import * as revocations from '../../billing/revocation-store.ts';
import * as summaries from '../../billing/wallets/wallet-summary-store.ts';
import * as walletUse from '../../billing/wallets/wallet-use-store.ts';
import * as clients from '../../partners/clients/client-store.ts';
import * as integrations from '../../partners/integrations/integration-store.ts';
import * as apiKeys from '../../partners/keys/key-store.ts';
import * as deviceRequests from '../../partners/members/device-request-store.ts';
import * as memberSessions from '../../partners/members/member-session-store.ts';
import * as members from '../../partners/members/member-store.ts';
import * as ownerEnds from '../../partners/members/owner-end-store.ts';
import * as partners from '../../partners/partner-store.ts';
import * as enrollments from '../../people/enrollments/enrollment-store.ts';
import * as passkeys from '../../people/passkeys/passkey-store.ts';
import * as users from '../../people/users/user-store.ts';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';
import type { ShardDeclaration } from '../../platform/database/schema/sharding.ts';
import * as requestCounters from '../../platform/http/limits/request-counters.ts';
import * as processes from '../../platform/jobs/processes.ts';
import * as jobs from '../../platform/jobs/scheduler.ts';
import * as keyring from '../../platform/keys/keyring.ts';
import type { SealedField } from '../../platform/keys/sealed-values.ts';
import * as sessions from '../../sessions/session-store.ts';
import * as bulk from '../../webhooks/bulk/bulk-store.ts';
import * as deliveries from '../../webhooks/delivery/delivery-store.ts';
import * as events from '../../webhooks/delivery/event-store.ts';
import * as auditLog from '../audit/audit-store.ts';
import * as operators from '../operators/operator-store.ts';
import * as requestGaps from '../requests/request-gap-store.ts';
import * as requestLog from '../requests/request-store.ts';
import * as serviceHours from '../service-status/service-hour-store.ts';
import * as warnings from '../warnings/warning-store.ts';

/** Every store that declares indexes or a shard key. */
const stores: readonly { indexes: readonly IndexDeclaration[]; shardKey?: ShardDeclaration }[] = [
  ...[partners, apiKeys, clients, integrations, members, memberSessions, deviceRequests, ownerEnds],
  ...[sessions, users, enrollments, passkeys],
  ...[ledger, revocations, summaries, walletUse],
  ...[events, deliveries, bulk],
  ...[operators, auditLog, requestLog, requestGaps, serviceHours, warnings],
  ...[processes, requestCounters, jobs],
];

/** The indexes of all stores. They are created at start, and a test compares them with the database. */
export const indexes: readonly IndexDeclaration[] = stores.flatMap((store) => store.indexes);

export const shardKeys: readonly ShardDeclaration[] = stores.flatMap(({ shardKey }) => shardKey ?? []);

/** Every field that contains a value encrypted with the master key. A test compares the list with a database after traffic. */
export const sealedFields: readonly SealedField[] = [keyring, apiKeys, integrations].flatMap(
  (store) => store.sealedFields,
);

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
