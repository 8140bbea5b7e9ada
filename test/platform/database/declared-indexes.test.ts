import { expect, it } from 'vitest';
import type { IndexDeclaration } from '../../../server/platform/database/indexes.ts';
import { indexes } from '../../../server/wiring/indexes.ts';

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

/** Written out, so that no index changes unseen: each costs every write. */
const declared = [
  'apiKeys: auditAt sparse',
  'apiKeys: createdAt desc, _id desc',
  'apiKeys: hash unique',
  'apiKeys: last4',
  'apiKeys: partnerId, createdAt desc, _id desc',
  'auditLog: at desc, _id desc',
  'auditLog: operatorId, at desc, _id desc',
  'auditLog: requestId',
  'auditLog: target, at desc, _id desc',
  'clients: auditAt sparse',
  'clients: createdAt desc, _id desc',
  'clients: keyId, createdAt desc, _id desc',
  'clients: partnerId, createdAt desc, _id desc',
  'clients: redirectUris',
  'deliveries: createdAt desc, _id desc',
  'deliveries: eventId',
  'deliveries: keyId, createdAt desc, _id desc',
  'deliveries: keyId, lane, nextAttemptAt where {status:pending}',
  'deliveries: lease.token sparse',
  'deliveries: lease.until sparse',
  'deliveries: nextAttemptAt where {status:pending}',
  'deliveries: partnerId, createdAt desc, _id desc',
  'deliveries: purgeAt ttl',
  'deliveries: status, createdAt desc, _id desc',
  'enrollments: auditAt sparse',
  'enrollments: customerHash sparse',
  'enrollments: partnerId, createdAt desc, _id desc',
  'enrollments: purgeAt sparse ttl',
  'enrollments: reviseAt sparse',
  'enrollments: sub',
  'enrollments: userId',
  'events: createdAt desc, _id desc',
  'events: keyId, createdAt desc, _id desc',
  'events: partnerId, createdAt desc, _id desc',
  'events: purgeAt ttl',
  'events: sessionId sparse',
  'events: sub sparse',
  'integrations: auditAt sparse',
  'integrations: clientId, createdAt desc, _id desc',
  'integrations: createdAt desc, _id desc',
  'integrations: partnerId, createdAt desc, _id desc',
  'jobs: lastFinishedAt sparse',
  'jobs: name, nextRunAt, priority desc, lockedAt, disabled',
  'ledger: n, walletId where {n:0}',
  'ledger: purgeGrantsAt sparse',
  'ledger: unpublished, at where {unpublished:true}',
  'ledger: walletId, entries.grant.enrollmentId where {entries.kind:checkbox}',
  'ledger: walletId, entries.id unique',
  'ledger: walletId, n where {entries.memo.actor:{$exists:true}}',
  'operators: auditAt sparse',
  'operators: createdAt desc, _id desc',
  'operators: hash unique',
  'partners: auditAt sparse',
  'partners: createdAt desc, _id desc',
  'partners: name',
  'processes: lastSeenAt ttl',
  'requestLog: at desc, _id desc',
  'requestLog: at desc, _id desc, status where {status:{$gte:400}}',
  'requestLog: partnerId, at desc, _id desc',
  'requestLog: partnerId, at desc, _id desc, status where {status:{$gte:400}}',
  'requestLog: purgeAt ttl',
  'requestLog: sessionId sparse',
  'requestWindows: purgeAt ttl',
  'revocations: purgeAt ttl',
  'sessions: backing.until sparse',
  'sessions: clientId, createdAt desc, _id desc',
  'sessions: createdAt desc, _id desc',
  'sessions: enrollmentDueAt sparse',
  'sessions: outboxAt sparse',
  'sessions: partnerId, createdAt desc, _id desc',
  'sessions: purgeAt ttl',
  'sessions: userId sparse',
  'users: auditAt sparse',
  'users: erasedAt sparse',
  'users: keptSince sparse',
  'users: purgeAt sparse ttl',
  'users: reviseAt sparse',
  'walletSummaries: capped.until sparse',
  'walletSummaries: mode, balance, _id',
  'walletSummaries: mode, endsAt, _id',
];

it('declares these indexes and no others', () => {
  expect(indexes.map(describeIndex).toSorted()).toEqual(declared.toSorted());
});
