import {
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoServerError,
  MongoSystemError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
} from 'mongodb';

export const duplicateKey = 11_000;

const connectionErrors = [
  MongoNetworkError,
  MongoSystemError,
  MongoNotConnectedError,
  MongoTopologyClosedError,
  MongoClientClosedError,
];

/** Names of errors of the driver's pool and monitor that have no exported class. */
const internalErrors = new Set([
  'MongoPoolClearedError',
  'MongoPoolClosedError',
  'MongoWaitQueueTimeoutError',
  'MongoOperationTimeoutError',
  'MongoStalePrimaryError',
]);

/** MongoDB makes no index while its disk has less than 500 MB free. */
const outOfDiskSpace = 14_031;

/** Codes of a command that the server refused as a whole, before it did anything. */
const refusedCommandCodes = new Map<unknown, string>([
  [13, 'Unauthorized'],
  [18, 'AuthenticationFailed'],
]);

/** Codes of a refused write to one document. An operator has to act before it can succeed. */
const refusedWriteCodes = new Map<unknown, string>([
  ...refusedCommandCodes,
  [20, 'IllegalOperation'], // such as a server that runs read-only
  [371, 'UserWritesBlocked'],
  [8000, 'AtlasError'], // such as a quota that is used up
  [outOfDiskSpace, 'OutOfDiskSpace'],
]);

/** Codes of a server that is unavailable, or does not know whether a write is durable. */
const unavailableCodes = new Map<unknown, string>([
  [6, 'HostUnreachable'],
  [7, 'HostNotFound'],
  [8, 'UnknownError'], // such as one of the operating system
  [24, 'LockTimeout'],
  [43, 'CursorNotFound'],
  [46, 'LockBusy'],
  [50, 'MaxTimeMSExpired'],
  [64, 'WriteConcernTimeout'],
  [82, 'NoProgressMade'],
  [83, 'RemoteResultsUnavailable'],
  [89, 'NetworkTimeout'],
  [90, 'CallbackCanceled'],
  [91, 'ShutdownInProgress'],
  [100, 'UnsatisfiableWriteConcern'],
  [112, 'WriteConflict'],
  [117, 'ConflictingOperationInProgress'],
  [133, 'FailedToSatisfyReadPreference'],
  [134, 'ReadConcernMajorityNotAvailableYet'],
  [145, 'PooledConnectionsDropped'],
  [149, 'NoConfigPrimary'],
  [150, 'StaleEpoch'],
  [175, 'QueryPlanKilled'],
  [189, 'PrimarySteppedDown'],
  [202, 'NetworkInterfaceExceededTimeLimit'],
  [203, 'ShardingStateNotInitialized'],
  [211, 'KeyNotFound'], // a cluster that has just started
  [216, 'ElectionInProgress'],
  [237, 'CursorKilled'],
  [249, 'StaleDbVersion'],
  [262, 'ExceededTimeLimit'],
  [264, 'TooManyFilesOpen'],
  [279, 'ClientDisconnect'],
  [314, 'ObjectIsBusy'],
  [317, 'ConnectionPoolExpired'],
  [355, 'InterruptedDueToStorageChange'],
  [365, 'TemporarilyUnavailable'],
  [384, 'ConnectionError'],
  [402, 'ResourceExhausted'],
  [406, 'MigrationBlockingOperationCoordinatorCleaningUp'],
  [407, 'PooledConnectionAcquisitionExceededTimeLimit'],
  [412, 'UpdatesStillPending'],
  [433, 'AdmissionQueueOverflow'],
  [449, 'RateLimitExceeded'],
  [450, 'PooledConnectionAcquisitionRejected'],
  [453, 'InterruptedDueToReshardingCriticalSection'],
  [462, 'IngressRequestRateLimitExceeded'],
  [9001, 'SocketException'],
  [10_058, 'LegacyNotPrimary'],
  [10_107, 'NotWritablePrimary'],
  [11_600, 'InterruptedAtShutdown'],
  [11_601, 'Interrupted'],
  [11_602, 'InterruptedDueToReplStateChange'],
  [13_388, 'StaleConfig'],
  [13_435, 'NotPrimaryNoSecondaryOk'],
  [13_436, 'NotPrimaryOrSecondary'],
  [46_841, 'ClientMarkedKilled'],
  [56_846, 'ConfigServerUnreachable'],
  [91_331, 'RetriableRemoteCommandFailure'],
  [10_045_600, 'InterruptedDueToFCVChange'],
]);

/** Labels of errors whose command may be sent again. */
const repeatableLabels = ['RetryableWriteError', 'RetryableError', 'SystemOverloadedError'];

/** Unwraps the cause of a bulk write that got no reply. The driver wraps it like an error of the server. */
const unwrap = (error: MongoError): MongoError =>
  error instanceof MongoBulkWriteError && (error.errorResponse as unknown) instanceof MongoError
    ? (error.errorResponse as unknown as MongoError)
    : error;

/** Whether a write was made, but not confirmed as its write concern demands. An election may undo it. */
const failedWriteConcern = (error: MongoServerError): boolean =>
  error instanceof MongoWriteConcernError ||
  (error instanceof MongoBulkWriteError && error.result.getWriteConcernError() !== undefined);

/**
 * Whether the database cannot be reached, refuses writes for now, or does not know the result of a write. The client then
 * gets a 503. The write may have been made all the same, so code that writes again must first look for its record.
 */
export const isUnavailable = (thrown: unknown): boolean => {
  if (!(thrown instanceof MongoError)) return false;
  const error = unwrap(thrown);
  if (repeatableLabels.some((label) => error.hasErrorLabel(label))) return true;
  if (error instanceof MongoServerError)
    return failedWriteConcern(error) || unavailableCodes.has(error.code) || refusedWriteCodes.has(error.code);
  return internalErrors.has(error.name) || connectionErrors.some((kind) => error instanceof kind);
};

/** Whether a whole command was refused, so that none of its writes was made. A failed write concern follows a write. */
export const isCommandRefused = (thrown: unknown): boolean =>
  thrown instanceof MongoServerError && !failedWriteConcern(thrown) && refusedCommandCodes.has(thrown.code);

/**
 * Whether a document may have been written although its command reports an error for it. This happens if the router of a
 * sharded cluster has lost the reply of a shard: it then reports that the shard is unavailable.
 */
export const mayHaveWritten = (error: MongoServerError): boolean =>
  isUnavailable(error) && !refusedWriteCodes.has(error.code);

/** An error of the database in a few words that name no data: `Unauthorized (13)`. */
export const nameOfFailure = (error: unknown): string => {
  if (!(error instanceof MongoServerError)) return error instanceof Error ? error.name : 'an unknown error';
  const { code, codeName, name } = error;
  // The error of a single statement in a batch has a code, but no `codeName`.
  const listedName = refusedWriteCodes.get(code) ?? unavailableCodes.get(code);
  return `${codeName ?? listedName ?? name} (${code})`;
};

/** Whether a write was refused by a unique index. */
export const isDuplicateKey = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === duplicateKey;

/** Returns the result of a write; undefined if a unique index has refused it. */
export async function unlessDuplicate<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (isDuplicateKey(error)) return undefined;
    throw error;
  }
}

/** Whether the database has refused to make an index, because its disk is too full. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === outOfDiskSpace;
