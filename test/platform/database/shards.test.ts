import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type CommandStartedEvent, type Db, type Document, MongoServerError } from 'mongodb';
import { expect, it, onTestFinished } from 'vitest';
import { indexes, shardKeys, unsharded } from '../../../server/operations/schema/collections.ts';
import { reportShards } from '../../../server/operations/schema/shard-report.ts';
import { compareShardKeys, countShards } from '../../../server/platform/database/schema/sharding.ts';
import { freshDatabase } from '../../harness/database.ts';
import { adminToken, startTestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';

const journey = fileURLToPath(new URL('../../../dist/test/journey/main.js', import.meta.url));

/** The same as below. These are sent only if a sweep has found work, so they may be absent. */
const rare = [
  'deliveries aggregate nextAttemptAt,status', // seconds with due deliveries
];

/**
 * Statements that may go to all shards, by their fields: background work, lists of operators, erasure. Each is a page
 * at most, or is rare. No answer to a partner or a user waits for one.
 */
const broadcast = new Set([
  ...rare,
  'deliveries find nextAttemptAt,status', // endpoints with due deliveries
  'deliveries find status', // the oldest waiting delivery, for `svcadmin status`
  'deliveries aggregate status', // the number of waiting deliveries, for the same
  'deliveries find lease.until,status', // attempts of a process that has ended
  'deliveries find forgetAnswersAt,status', // receivers' answers that are a week old
  'deliveries find overdue.since,status', // the oldest delivery that its first due time makes late
  'deliveries aggregate keyId,status', // the keys with failed deliveries, for health and warnings
  'deliveries find keyId,lane,status', // the keys with waiting deliveries
  'deliveries find purgeAt', // expired documents, if the database does not delete them
  'events find purgeAt', // expired documents
  'enrollments find purgeAt', // the same
  'enrollments find invalidateAt', // snapshots whose invalidation was interrupted
  'enrollments find auditAt', // audit entries to copy
  'sessions find outboxAt', // events that a process has not published before its end
  'sessions find enrollmentDueAt', // enrollments that need an update
  'sessions find snapshot.until', // claims of codes that have expired
  'requestLog find purgeAt', // the same
  'requestWindows find purgeAt', // the same
  'revocations find purgeAt', // the same
  'passkeys find purgeAt', // the same
  'sessions find purgeAt', // expired documents, if the database does not delete them
  'users find purgeAt', // the same
  'users find invalidateAt', // snapshots whose invalidation was interrupted
  'users find hold.until,keptSince', // claims that are no longer fresh
  'users find hold.movedAt,hold.until', // held users, whose records are kept
  'users find erasedAt', // erased users, for the second pass
  'users find auditAt', // audit entries to copy
  'ledger find at,unpublished', // events that a process has not published before its end
  'ledger find purgeGrantsAt', // grants that have expired
  'ledger find n,walletId', // wallets in turn, for their summaries
]);

/** The fields that a filter binds to a value, including those in `$and`. */
function fieldsOf(filter: Document): string[] {
  return Object.entries(filter).flatMap(([name, value]) =>
    name === '$and' ? (value as Document[]).flatMap(fieldsOf) : [name],
  );
}

/** Whether a filter determines the shards: it has a value, or a list of values, for each field of the key. */
function isTargeted(filter: Document, key: Record<string, 1>): boolean {
  const parts = [filter, ...((filter['$and'] as Document[] | undefined) ?? [])];
  return Object.keys(key).every((field) =>
    parts.some((part) => {
      const value: unknown = part[field];
      if (value === undefined || value === null) return false;
      return typeof value !== 'object' || Array.isArray((value as Document)['$in']) || '$eq' in value;
    }),
  );
}

interface Statement {
  collection: string;
  name: string;
  filter: Document;
  /** Commands that a cluster refuses without the shard key. */
  strict: boolean;
}

function statementsOf({ commandName: name, command }: CommandStartedEvent): Statement[] {
  const collection = String(command[name]);
  const one = (filter: Document, strict = false) => ({ collection, name, filter, strict });
  switch (name) {
    case 'find':
      return [one(command['filter'] as Document)];
    case 'count':
    case 'distinct':
      return [one((command['query'] ?? {}) as Document)];
    case 'aggregate': {
      const pipeline = command['pipeline'] as Document[];
      const filterOf = (stages: Document[]) => (stages[0]?.['$match'] ?? {}) as Document;
      const joined = pipeline.flatMap(({ $unionWith: union }) =>
        union ? [{ ...one(filterOf(union.pipeline)), collection: String(union.coll), name: 'find' }] : [],
      );
      // A union of reads is one command for several of them.
      const first = { ...one(filterOf(pipeline)), ...(joined.length > 0 && { name: 'find' }) };
      return collection === '1' ? [] : [first, ...joined];
    }
    case 'findAndModify':
      return [one(command['query'] as Document, true)];
    case 'update':
      return (command['updates'] as Document[]).map(({ q, multi, upsert }) =>
        one(q as Document, multi !== true || upsert === true),
      );
    case 'delete':
      return (command['deletes'] as Document[]).map(({ q, limit }) => one(q as Document, limit === 1));
    default:
      return [];
  }
}

/** Returns the statements that go to unnecessary shards, and the shapes of all statements. */
function faultsOf(events: readonly CommandStartedEvent[]): { faults: string[]; shapes: Set<string> } {
  const faults = new Set<string>();
  const shapes = new Set<string>();
  for (const { collection, name, filter, strict } of events.flatMap(statementsOf)) {
    const key = shardKeys.find((each) => each.collection === collection)?.key;
    if (!key) continue;
    const shape = `${collection} ${name} ${[...new Set(fieldsOf(filter))].toSorted().join()}`;
    shapes.add(shape);
    if (isTargeted(filter, key)) continue;
    if (strict) faults.add(`${shape}: changes one document and does not name its shard`);
    else if (!broadcast.has(shape)) faults.add(`${shape}: goes to all shards`);
  }
  return { faults: [...faults], shapes };
}

it('every collection is sharded by a declared key, or stays unsharded for a documented reason', async () => {
  const { db } = await freshDatabase();
  const declared = new Set(indexes.map(({ collection }) => collection));
  const named = [...shardKeys.map(({ collection }) => collection), ...Object.keys(unsharded)];
  expect([...declared].filter((collection) => !named.includes(collection))).toEqual([]);
  expect(new Set(named).size).toBe(named.length);
  expect(await reportShards(db)).toEqual({ sharded: false, differences: [], unread: [] });
});

it('unique indexes of sharded collections begin with the shard key', () => {
  for (const { collection, key } of shardKeys) {
    const fields = Object.keys(key);
    for (const index of indexes.filter((each) => each.collection === collection && each.unique))
      expect(Object.keys(index.key).slice(0, fields.length), `${collection}: a unique index`).toEqual(fields);
  }
});

it('reportShards reports collections whose shard keys differ from the declared ones', async () => {
  const { db } = await freshDatabase();
  const { db: config } = await freshDatabase();
  const collections = config.collection<{ _id: string; key: Document; unsplittable?: boolean }>(
    'collections',
  );
  const of = (name: string, key: Document) => ({ _id: `${db.databaseName}.${name}`, key });
  await collections.insertMany([
    ...shardKeys.map(({ collection, key }) => of(collection, key)),
    { ...of('meta', { _id: 1 }), unsplittable: true },
    { _id: `${db.databaseName}2.users`, key: { _id: 1 } },
  ]);
  const report = () => reportShards(db, { router: Promise.resolve(true), config });
  expect(await report()).toEqual({ sharded: true, differences: [], unread: [] });
  await collections.updateOne({ _id: `${db.databaseName}.ledger` }, { $set: { key: { _id: 'hashed' } } });
  await collections.deleteOne({ _id: `${db.databaseName}.events` });
  await collections.insertOne(of('partners', { _id: 1 }));
  expect(await report()).toEqual({
    sharded: true,
    differences: [
      { collection: 'ledger', expected: '{walletId: 1}', found: '{_id: hashed}' },
      { collection: 'events', expected: '{_id: 1}', found: null },
      { collection: 'partners', expected: null, found: '{_id: 1}' },
    ],
    unread: [],
  });
  expect(compareShardKeys(shardKeys, ['ledger'], new Map())).toHaveLength(1);
});

/** A database that answers every read with this server error. */
function refusing(code: number): Db {
  const toArray = () => Promise.reject(new MongoServerError({ code, errmsg: 'not for you' }));
  const collection = () => ({ find: () => ({ toArray }), aggregate: () => ({ toArray }) });
  return { collection } as unknown as Db;
}

it.each([13, 115, 8000])(
  'reportShards lists what it could not read if the database refuses a command with the error %i',
  async (code) => {
    const { db } = await freshDatabase();
    const cluster = { router: Promise.resolve(true), config: refusing(code) };
    const count = async (_db: Db, collection: string) => (collection === 'partners' ? 2 : 1);
    expect(await reportShards(db, { ...cluster, count })).toEqual({
      sharded: true,
      differences: [{ collection: 'partners', expected: null, found: 'on 2 shards' }],
      unread: ['shard keys'],
    });
    const blind = await reportShards(db, { ...cluster, count: () => countShards(refusing(code), 'any') });
    expect(blind.differences).toEqual([]);
    expect(blind.unread).toEqual([
      'shard keys',
      ...Object.keys(unsharded).map((name) => `shards of ${name}`),
    ]);
    const broken = reportShards(db, { ...cluster, config: refusing(1) });
    await expect(broken).rejects.toThrow('not for you');
  },
);

it('each database command of a complete run (npm run journey) reaches only the shards that it needs', {
  timeout: within(120_000),
}, async () => {
  const events: CommandStartedEvent[] = [];
  const server = await startTestServer({ onCommand: (event) => events.push(event) });
  onTestFinished(() => server.stop());
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: server.dataDir,
    SVC_DATA_DIR: server.dataDir,
    SVCADMIN_URL: server.adminUrl,
    SVCADMIN_TOKEN: adminToken,
  };
  await new Promise<void>((resolve, reject) => {
    execFile(process.execPath, [journey], { env, cwd: server.dataDir }, (error, stdout, stderr) =>
      error ? reject(new Error(`${stdout}${stderr}`)) : resolve(),
    );
  });
  await server.sweep();
  const { faults, shapes } = faultsOf(events);
  expect(faults).toEqual([]);
  expect([...broadcast].filter((shape) => !shapes.has(shape) && !rare.includes(shape))).toEqual([]);
  expect(shapes.size).toBeGreaterThan(15);
  // The check itself finds faults.
  const planted = { commandName: 'find', command: { find: 'events', filter: { sessionId: 'ses_1' } } };
  const upsert = {
    commandName: 'update',
    command: { update: 'ledger', updates: [{ q: { _id: 'ptr_1:test/1' }, u: {}, upsert: true }] },
  };
  expect(faultsOf([planted, upsert] as unknown as CommandStartedEvent[]).faults).toHaveLength(2);
});
