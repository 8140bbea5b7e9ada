import { type Db, MongoClient, type MongoClientOptions } from 'mongodb';
import type { Logger } from '../logging.ts';
import { failCommandsOfEndedConnections } from './ended-connections.ts';

export { isDuplicateKey, isUnavailable } from './failures.ts';

/** What a deployment of the database can do beyond single-document writes. */
type DatabaseFeatures = {
  /** A write that lost its connection may be sent again by the driver: replica sets and sharded clusters. */
  retryableWrites: boolean;
  /** The database deletes the documents that TTL indexes name; where not, `sweepExpired` has to. */
  expiresDocuments: boolean;
  /** It is reached through the router of a sharded cluster. */
  sharded: boolean;
};

export type Database = { client: MongoClient; db: Db; features: DatabaseFeatures };

type Target = {
  /** Connection string; its path names the database, `svc` where it has none. */
  uri: string;
  /** True for the engine of `startEmbedded`, whose features are known. */
  embedded: boolean;
  /** Shown in the database's own log and `currentOp`. */
  appName: string;
  /** Longest wait for one answer in milliseconds; for long scans and index builds. Default 1900. */
  answerWithinMs?: number;
  logger?: Pick<Logger, 'info'>;
  /** Called with the client before it connects. */
  watch?: (client: MongoClient) => void;
  /** Whether the client emits an event for each command, which costs time. */
  monitorCommands?: boolean;
};

failCommandsOfEndedConnections();

const defaultDatabase = 'svc';
const embeddedFeatures: DatabaseFeatures = {
  retryableWrites: false,
  expiresDocuments: false,
  sharded: false,
};

/** Milliseconds that an index build or the scan of a whole collection may take. */
export const longestScanMs = 600_000;

/**
 * A billable endpoint answers 503 within 5 s when the database cannot be reached. The driver adds these up: an operation
 * finds a server, then a connection, then waits for its answer. It may repeat the last two.
 */
const limits = (answerWithinMs: number): MongoClientOptions => ({
  serverSelectionTimeoutMS: 3_000,
  connectTimeoutMS: 1_900,
  waitQueueTimeoutMS: 1_900,
  socketTimeoutMS: answerWithinMs,
  heartbeatFrequencyMS: 2_000, // a database that hangs is noticed by these, and selection fails from then on
});

const databaseName = (uri: string): string => {
  const path = /^mongodb(?:\+srv)?:\/\/[^/]*\/([^?]*)/.exec(uri)?.[1];
  return path ? decodeURIComponent(path) : defaultDatabase;
};

const probe = async ({ uri, appName }: Target): Promise<DatabaseFeatures> => {
  const client = new MongoClient(uri, { ...limits(1_900), appName, retryWrites: false, maxPoolSize: 1 });
  try {
    const hello = await client.db('admin').command({ hello: 1 });
    return {
      retryableWrites: typeof hello['setName'] === 'string' || hello['msg'] === 'isdbgrid',
      // The embedded engine, reached by its address from a second process, knows no sessions.
      sharded: hello['msg'] === 'isdbgrid',
      expiresDocuments: typeof hello['logicalSessionTimeoutMinutes'] === 'number',
    };
  } finally {
    await client.close();
  }
};

/**
 * With several members, what an election could still take back is neither confirmed nor read. A lone server has no
 * elections, so `w: 1` with the journal is enough. The embedded engine, asked for a majority, acknowledges some writes
 * before they are journaled: 0.2 % were lost at a `kill -9`. With `w: 1`, none of 35,000 was lost.
 */
const concerns = ({ retryableWrites }: DatabaseFeatures): MongoClientOptions =>
  retryableWrites
    ? { readConcern: { level: 'majority' }, writeConcern: { w: 'majority', journal: true } }
    : { readConcern: { level: 'local' }, writeConcern: { w: 1, journal: true } };

/**
 * Connects to the database with options that fit it. A confirmed write is journaled, and on a majority of the
 * members where there are several. On a database that is away, an operation fails in less than 4 s with an error
 * that `isUnavailable` recognises.
 *
 * @throws MongoServerSelectionError when no server answers within 3 s
 */
export const connect = async (target: Target): Promise<Database> => {
  const { uri, embedded, appName, answerWithinMs = 1_900, logger } = target;
  const features = embedded ? embeddedFeatures : await probe(target);
  const client = new MongoClient(uri, {
    ...limits(answerWithinMs),
    appName,
    maxPoolSize: 20,
    ...(embedded ? { directConnection: true } : {}),
    retryWrites: features.retryableWrites,
    readPreference: 'primary',
    ...concerns(features),
    ignoreUndefined: true,
    ...(target.monitorCommands ? { monitorCommands: true } : {}),
  });
  target.watch?.(client);
  try {
    await client.connect();
  } catch (error) {
    await client.close();
    throw error;
  }
  const db = client.db(databaseName(uri));
  logger?.info({ database: db.databaseName, embedded, ...features }, 'connected to the database');
  return { client, db, features };
};
