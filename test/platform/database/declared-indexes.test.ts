import { expect, it } from 'vitest';
import { indexes } from '../../../server/operations/schema/collections.ts';
import type { IndexDeclaration } from '../../../server/platform/database/schema/indexes.ts';

function describeIndex(index: IndexDeclaration): string {
  const fields = Object.entries(index.key).map(([name, order]) => (order < 0 ? `${name} desc` : name));
  const options = [
    index.unique ? ' unique' : '',
    index.sparse ? ' sparse' : '',
    index.expireAfterSeconds === undefined ? '' : ' ttl',
    index.partialFilterExpression
      ? ` where ${JSON.stringify(index.partialFilterExpression).replaceAll('"', '')}`
      : '',
  ];
  return `${index.collection}: ${fields.join(', ')}${options.join('')}`;
}

/** All indexes are listed here, so that a change is noticed: each index costs every write. */
const declared: Record<string, string> = {
  apiKeys: `auditAt sparse | createdAt desc, _id desc | hash unique | last4 | oldSecrets.expiresAt sparse |
    oldSecrets.hash sparse | oldSecrets.last4 sparse | partnerId, createdAt desc, _id desc |
    pause.until sparse | webhook.last4 sparse | webhook.next.last4 sparse`,
  auditLog: `before.last4 sparse | after.filter.keyId sparse | at desc, _id desc |
    operatorId, at desc, _id desc | partnerId, at desc, _id desc | requestId | target, at desc, _id desc |
    targets, at desc, _id desc where {targets:{$exists:true}}`,
  bulkJobs: `auditAt sparse | createdAt desc, _id desc | fingerprint unique sparse | nextAt sparse |
    purgeAt ttl`,
  bulkPaces: 'next ttl',
  clients: `auditAt sparse | brandWaitsSince, _id sparse | createdAt desc, _id desc |
    keyId, createdAt desc, _id desc | partnerId, createdAt desc, _id desc | redirectUris | secrets.hash |
    secrets.expiresAt sparse | secrets.last4 sparse`,
  deliveries: `createdAt desc, _id desc | eventId | forgetAnswersAt sparse |
    keyId, createdAt desc where {status:delivered,attempts.durationMs:{$gte:5000}} |
    keyId, createdAt desc, _id desc | keyId, lane, nextAttemptAt where {status:pending} |
    keyId, overdue.since where {status:pending,overdue.since:{$gt:1970-01-01T00:00:00.000Z}} |
    overdue.since sparse | nextAttemptAt where {status:pending} | partnerId, createdAt desc, _id desc |
    purgeAt ttl | status, createdAt desc, _id desc |
    status, keyId, createdAt desc, _id desc where {status:failed,keyId:{$gt:}}`,
  deviceRequests: 'expiresAt ttl | userCode unique',
  enrollments: `auditAt sparse | createdAt desc, _id desc where {status:blocked} | customerHash sparse |
    partnerId, createdAt desc, _id desc | purgeAt sparse ttl | invalidateAt sparse | sub | userId`,
  events: `createdAt desc, _id desc | keyId, createdAt desc, _id desc |
    partnerId, createdAt desc, _id desc | purgeAt ttl | sessionId sparse | sub sparse`,
  integrations: `auditAt sparse | clientId, createdAt desc, _id desc | createdAt desc, _id desc |
    last4 sparse | oldSecret.expiresAt sparse | oldSecret.last4 sparse | partnerId, createdAt desc, _id desc`,
  jobs: 'lastFinishedAt sparse | name, nextRunAt, priority desc, lockedAt, disabled',
  ledger: `n, walletId where {n:0} | purgeGrantsAt sparse | unpublished, at where {unpublished:true} |
    walletId, entries.grant.enrollmentId where {entries.kind:checkbox} | walletId, entries.id unique |
    walletId, n where {entries.memo.actor:{$exists:true}}`,
  memberSessions: 'expiresAt ttl | memberId | partnerId',
  members: `auditAt sparse | email sparse | invitation.hash sparse | partnerId, createdAt desc, _id desc |
    passkey.credentialId unique sparse | purgeAt sparse ttl`,
  operators: 'auditAt sparse | createdAt desc, _id desc | hash unique',
  partners: `auditAt sparse | brandWaitsSince, _id sparse | createdAt desc, _id desc | contacts sparse |
    name | warnings.lowBalance sparse`,
  passkeys: 'purgeAt sparse ttl | userId',
  processes: 'lastSeenAt ttl | seenAt ttl',
  requestGaps: 'purgeAt ttl',
  requestLog: `at desc, _id desc | at desc, _id desc, status where {status:{$gte:400}} |
    partnerId, at desc, _id desc | partnerId, at desc, _id desc, status where {status:{$gte:400}} |
    purgeAt ttl | sessionId sparse`,
  requestWindows: 'purgeAt ttl',
  revocations: 'purgeAt ttl',
  serviceHours: 'purgeAt ttl',
  sessions: `snapshot.until sparse | clientId, createdAt desc, _id desc |
    clientReferenceId, createdAt desc, _id desc where {clientReferenceId:{$exists:true}} |
    createdAt desc, _id desc | enrollmentDueAt sparse | outboxAt sparse | partnerId, createdAt desc, _id desc |
    purgeAt ttl | stateHash sparse | userId sparse`,
  users: `auditAt sparse | erasedAt sparse | hold.until sparse | keptSince sparse | purgeAt sparse ttl |
    invalidateAt sparse`,
  walletSummaries: 'capped.until sparse | mode, balance, _id | mode, endsAt, _id',
  warnings: `open, since desc, _id desc | partnerId, since desc, _id desc | purgeAt ttl |
    since desc, _id desc | untold sparse`,
};

it('the database has exactly the indexes that this test lists', () => {
  const listed = Object.entries(declared).flatMap(([collection, all]) =>
    all.split(/\s*\|\s*/).map((one) => `${collection}: ${one}`),
  );
  expect(indexes.map(describeIndex).toSorted()).toEqual(listed.toSorted());
});
