import { inFile } from './mutation.ts';

/** Mutations that the simulation of hand-overs cannot find: authentication, membership, aborts, and ownership. */
export const handOver = [
  ...inFile(
    'server/billing/hand-over/take-over.ts',
    ['billing/take-over', 'billing/private-listener', 'billing/hand-over'],
    [
      ['request.to !== self', 'false'],
      ['Math.abs(clock.now() - at) > oldestRequestMs', 'false'],
      ['n <= (lastNonces.get(from) ?? 0)', 'false'],
      ['!clock.trusted()', 'false'],
      ['cancelled.has(position)', 'false'],
    ],
  ),
  ...inFile(
    'server/billing/hand-over/messages.ts',
    ['billing/take-over', 'billing/private-listener', 'billing/hand-over'],
    [
      ["keyed(idKey, ['hand-over', 'reply'])", "keyed(idKey, ['hand-over', 'request'])"],
      ['item.at = new Date(item.at);', ''],
      ['memo.audit.at = new Date(memo.audit.at);', ''],
      ['grant.expiresAt = new Date(grant.expiresAt);', ''],
    ],
  ),
  ...inFile(
    'server/platform/keys/authenticated-json.ts',
    ['billing/private-listener'],
    [['sameText(hmac(key, json), sealed.slice(0, macLength))', 'true']],
  ),
  ...inFile(
    'server/billing/hand-over/hand-over.ts',
    ['billing/hand-over', 'billing/private-listener'],
    [
      ['to === self && n === request.n && ', ''],
      ['writers.suspect(peer, error);', ''],
      ['entry.memo?.audit?.id === memo?.audit?.id', 'false'],
      ['timeLeft(options.signal) >= leastLeftMs', 'true'],
    ],
  ),
  ...inFile(
    'server/billing/hand-over/writers.ts',
    ['billing/writers', 'billing/hand-over', 'billing/private-listener'],
    [
      ["highestHashes(ids, 'writer', Math.ceil(ids.length / processesPerWriter))", 'ids'],
      ['if (!living.has(id)) exclude(id);', 'void id;'],
    ],
  ),
  ...inFile(
    'server/platform/jobs/rendezvous-hash.ts',
    ['billing/writers'],
    [['a.weight < b.weight', 'a.id < b.id']],
  ),
  ...inFile(
    'server/platform/jobs/processes.ts',
    ['billing/private-listener'],
    [
      ['clock.now() - silentAfterMs', 'clock.now() - 10 * silentAfterMs'],
      ['await listeners.deleteOne({ _id: listenerId });', ''],
    ],
  ),
  ...inFile(
    'server/platform/jobs/processes.ts',
    ['platform/jobs/processes'],
    [['{ lastSeenAt: { $gt: new Date(now - goneAfterMs) } }', '{}']],
  ),
  ...inFile(
    'server/process/membership.ts',
    ['process/membership-terms'],
    [
      ["!roles.has('api')", 'false'],
      ['!everyInterface.includes(peer.host)', 'true'],
      ['!isStopping() && ', ''],
      ['outdated() === undefined && ', ''],
      [' && clock.trusted()', ''],
      ['await processes.resign().catch(() => undefined);', ''],
    ],
  ),
];
