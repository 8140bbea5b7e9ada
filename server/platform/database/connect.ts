import { type Db, MongoClient, type MongoClientOptions } from 'mongodb';
import { ConfigError } from '../errors.ts';
import type { Logger } from '../telemetry/logging.ts';
import { failCommandsOfEndedConnections } from './ended-connections.ts';
import { isFromRouter } from './schema/sharding.ts';
import { databaseName, uriOption } from './uri-options.ts';

export { isDuplicateKey, isUnavailable } from './failures.ts';

/** The capabilities of a database deployment. */
type DatabaseFeatures = {
  /** The driver may repeat a write that lost its connection: true for replica sets and sharded clusters. */
  retryableWrites: boolean;
  /** The database has several members, and an election can undo writes that a majority does not have. */
  replicated: boolean;
  /** The database deletes documents by TTL indexes. If not, `sweepExpired` has to. */
  expiresDocuments: boolean;
  /** The database is reached through the router of a sharded cluster. */
  sharded: boolean;
};

export type Database = { client: MongoClient; db: Db; features: DatabaseFeatures };

type Target = {
  /** Connection string. Its path names the database; the default is `svc`. */
  uri: string;
  /** True for the engine of `startEmbedded`, whose features are known. */
  embedded: boolean;
  /** The features of the database, if an earlier connection has read them. */
  features?: DatabaseFeatures;
  /** Shown in the database's own log and `currentOp`. */
  appName: string;
  /** Longest wait for one reply in milliseconds, default 1900. Long scans and index builds need more. */
  answerWithinMs?: number;
  logger?: Pick<Logger, 'info'>;
  watch?: (client: MongoClient) => void;
  /** Whether the client emits an event for each command, which costs time. */
  monitorCommands?: boolean;
};

failCommandsOfEndedConnections();

const embeddedFeatures: DatabaseFeatures = {
  retryableWrites: false,
  replicated: false,
  expiresDocuments: false,
  sharded: false,
};

/** Connections of a process for requests, unless MONGODB_URI sets another number. */
const defaultPoolSize = 20;

/** The oldest supported version of the database, and its protocol version. */
const oldest = { version: '5.0', wireVersion: 13 };

/** How often a pool looks for connections to close or to add, in milliseconds. The driver's 100 ms wake an idle process often. */
const poolCheckedEvery = 1_000;

/** How long an index build or the scan of a whole collection may take. */
export const longestScanMs = 600_000;

/**
 * Time limits of an operation. The driver selects a server (3 s at most), gets a connection (1.9 s), and waits for the reply.
 * If no server can be reached, the first step fails; if one hangs, the others do. So a billable request, which has to be
 * answered within 5 s, mostly gets its 503 from here; `answerInTime` is the last resort.
 */
const limits = (answerWithinMs: number): MongoClientOptions => ({
  serverSelectionTimeoutMS: 3_000,
  connectTimeoutMS: 1_900,
  waitQueueTimeoutMS: 1_900,
  socketTimeoutMS: answerWithinMs,
  // Detects a database that hangs; the selection of a server then fails. What may wait long does not need it as soon.
  heartbeatFrequencyMS: answerWithinMs > 2_000 ? 10_000 : 2_000,
});

/** Errors of the driver about an unusable address, unreadable files, or a database that is too old. */
const misuses = new Set([
  ...['MongoParseError', 'MongoInvalidArgumentError', 'MongoAPIError'],
  ...['MongoMissingDependencyError', 'MongoMissingCredentialsError', 'MongoCompatibilityError'],
  // The driver cannot parse a port, or a percent-encoded character.
  ...['MongoRuntimeError', 'URIError'],
]);

/** Runs `work`. @throws ConfigError, without a password, if the driver refuses the address or cannot read a file of it */
async function explainMisuse<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const causes = [error, (error as Error).cause].filter((cause) => cause instanceof Error);
    const isFileError = (cause: Error) => 'path' in cause;
    const misuse = causes.find((cause) => misuses.has(cause.name) || isFileError(cause));
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

/** Whether the driver retries writes: as the address says. If it says nothing, whether the database supports it. */
function retriesWrites(uri: string, isSupported: boolean): boolean {
  const wanted = uriOption(uri, 'retryWrites');
  if (wanted === 'true' && !isSupported) {
    throw new ConfigError([
      'MONGODB_URI: retryWrites=true cannot be honoured, because the database is a standalone server: take it out',
    ]);
  }
  return wanted === undefined ? isSupported : wanted === 'true';
}

const readFeatures = async ({ uri, appName }: Target): Promise<DatabaseFeatures> => {
  const options = { appName, retryWrites: false, maxPoolSize: 1, minPoolSize: 0 };
  const client = await explainMisuse(() => new MongoClient(uri, { ...limits(1_900), ...options }));
  try {
    const hello = await explainMisuse(() => client.db('admin').command({ hello: 1 }));
    requireVersion(Number(hello['maxWireVersion']));
    const sharded = isFromRouter(hello);
    const replicated = sharded || typeof hello['setName'] === 'string';
    const supportsSessions = typeof hello['logicalSessionTimeoutMinutes'] === 'number';
    return {
      retryableWrites: retriesWrites(uri, replicated),
      replicated,
      sharded,
      // A server without sessions is the embedded engine of another process. It has no TTL monitor.
      expiresDocuments: supportsSessions,
    };
  } finally {
    await client.close();
  }
};

/**
 * With several members, a write counts only once a majority has it, so that no election can undo it. A single server has
 * no elections, so `w: 1` with the journal is enough. With a majority, the embedded engine acknowledges some writes
 * before they are journaled: a `kill -9` lost 0.2 % of them. With `w: 1`, none of 35,000 was lost.
 */
const concerns = ({ replicated }: DatabaseFeatures): MongoClientOptions =>
  replicated
    ? { readConcern: { level: 'majority' }, writeConcern: { w: 'majority', journal: true } }
    : { readConcern: { level: 'local' }, writeConcern: { w: 1, journal: true } };

/**
 * Connects to the database, with options that fit it and those of its address. A confirmed write is journaled, on a
 * majority of the members if there are several. If the database cannot be reached, an operation fails in less than 4 s
 * with an error that `isUnavailable` recognises.
 *
 * @throws MongoServerSelectionError when no server answers within 3 s
 * @throws ConfigError for an address that cannot be used, and for a database that is too old
 */
export const connect = async (target: Target): Promise<Database> => {
  const { uri, embedded, appName, answerWithinMs = 1_900, logger } = target;
  const features = target.features ?? (embedded ? embeddedFeatures : await readFeatures(target));
  // These options override those of the address, so some are set only where the address sets none.
  const options: MongoClientOptions = {
    ...limits(answerWithinMs),
    appName: uriOption(uri, 'appName') ?? appName,
    ...(uriOption(uri, 'maxPoolSize') === undefined ? { maxPoolSize: defaultPoolSize } : {}),
    retryWrites: features.retryableWrites,
    readPreference: 'primary',
    ...concerns(features),
    ignoreUndefined: true,
    ...(target.monitorCommands ? { monitorCommands: true } : {}),
  };
  const name = await explainMisuse(() => databaseName(uri));
  const client = await explainMisuse(() => new MongoClient(uri, options));
  // The driver has this option, but refuses it in its constructor.
  Reflect.set(client.options, 'minPoolSizeCheckFrequencyMS', poolCheckedEvery);
  target.watch?.(client);
  try {
    await explainMisuse(() => client.connect());
  } catch (error) {
    await client.close();
    throw error;
  }
  const db = client.db(name);
  logger?.info({ database: db.databaseName, embedded, ...features }, 'connected to the database');
  return { client, db, features };
};
