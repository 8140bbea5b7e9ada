import { type Db, MongoClient, type MongoClientOptions } from 'mongodb';
import { ConfigError } from '../config/config.ts';
import type { Logger } from '../telemetry/logging.ts';
import { failCommandsOfEndedConnections } from './ended-connections.ts';
import { uriOption } from './uri-options.ts';

export { isDuplicateKey, isUnavailable } from './failures.ts';

/** What a deployment of the database can do beyond single-document writes. */
type DatabaseFeatures = {
  /** A write that lost its connection may be sent again by the driver: replica sets and sharded clusters. */
  retryableWrites: boolean;
  /** It has several members, and an election can take back what not all of them have. */
  replicated: boolean;
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
  replicated: false,
  expiresDocuments: false,
  sharded: false,
};

/** Connections of a process for requests, where MONGODB_URI does not say otherwise. */
const usualPoolSize = 20;

/** The oldest version that has all that this build asks for, and the version of the protocol that it speaks. */
const oldest = { version: '5.0', wireVersion: 13 };

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

/** Errors with which the driver refuses an address, what it names, or a database that is too old for it. */
const misuses = new Set([
  ...['MongoParseError', 'MongoInvalidArgumentError', 'MongoAPIError'],
  ...['MongoMissingDependencyError', 'MongoMissingCredentialsError', 'MongoCompatibilityError'],
]);

/** @throws ConfigError where the driver refuses what the address says; it names no password */
async function explained<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const causes = [error, (error as Error).cause].filter((each) => each instanceof Error);
    const misuse = causes.find((each) => misuses.has(each.name) || 'path' in each);
    if (misuse) throw new ConfigError([`MONGODB_URI: ${misuse.message}`]);
    throw error;
  }
}

function requireVersion(wireVersion: number): void {
  if (wireVersion >= oldest.wireVersion) return;
  throw new ConfigError([
    `MONGODB_URI: the database is older than MongoDB ${oldest.version}, the oldest version that this build works with (it speaks wire version ${wireVersion}, not ${oldest.wireVersion})`,
  ]);
}

/** What the address says about retryable writes, or what the database can do. */
function retriesOf(uri: string, possible: boolean): boolean {
  const wanted = uriOption(uri, 'retryWrites');
  if (wanted === 'true' && !possible) {
    throw new ConfigError([
      'MONGODB_URI: retryWrites=true cannot be honoured, because the database is a standalone server: take it out',
    ]);
  }
  return wanted === undefined ? possible : wanted === 'true';
}

const probe = async ({ uri, appName }: Target): Promise<DatabaseFeatures> => {
  const options = { appName, retryWrites: false, maxPoolSize: 1, minPoolSize: 0 };
  const client = await explained(() => new MongoClient(uri, { ...limits(1_900), ...options }));
  try {
    const hello = await explained(() => client.db('admin').command({ hello: 1 }));
    requireVersion(Number(hello['maxWireVersion']));
    const replicated = typeof hello['setName'] === 'string' || hello['msg'] === 'isdbgrid';
    return {
      retryableWrites: retriesOf(uri, replicated),
      replicated,
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
const concerns = ({ replicated }: DatabaseFeatures): MongoClientOptions =>
  replicated
    ? { readConcern: { level: 'majority' }, writeConcern: { w: 'majority', journal: true } }
    : { readConcern: { level: 'local' }, writeConcern: { w: 1, journal: true } };

/**
 * Connects to the database with options that fit it, and with those of its address. A confirmed write is journaled, and on a majority of the
 * members where there are several. On a database that is away, an operation fails in less than 4 s with an error
 * that `isUnavailable` recognises.
 *
 * @throws MongoServerSelectionError when no server answers within 3 s
 * @throws ConfigError for an address that cannot be used, and for a database that is too old
 */
export const connect = async (target: Target): Promise<Database> => {
  const { uri, embedded, appName, answerWithinMs = 1_900, logger } = target;
  const features = embedded ? embeddedFeatures : await probe(target);
  const options: MongoClientOptions = {
    ...limits(answerWithinMs),
    appName: uriOption(uri, 'appName') ?? appName,
    ...(uriOption(uri, 'maxPoolSize') === undefined ? { maxPoolSize: usualPoolSize } : {}),
    ...(embedded ? { directConnection: true } : {}),
    retryWrites: features.retryableWrites,
    readPreference: 'primary',
    ...concerns(features),
    ignoreUndefined: true,
    ...(target.monitorCommands ? { monitorCommands: true } : {}),
  };
  const client = await explained(() => new MongoClient(uri, options));
  target.watch?.(client);
  try {
    await explained(() => client.connect());
  } catch (error) {
    await client.close();
    throw error;
  }
  const db = client.db(databaseName(uri));
  logger?.info({ database: db.databaseName, embedded, ...features }, 'connected to the database');
  return { client, db, features };
};
