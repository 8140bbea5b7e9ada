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

/** Errors of the driver's pool and monitor that have no exported class, by the name they carry. */
const internalErrors = new Set([
  'MongoPoolClearedError',
  'MongoPoolClosedError',
  'MongoWaitQueueTimeoutError',
  'MongoOperationTimeoutError',
  'MongoStalePrimaryError',
]);

/** Codes of a server that cannot serve now, or does not know whether a write is durable. */
const unavailableCodes = new Set<unknown>([
  6, // HostUnreachable
  7, // HostNotFound
  50, // MaxTimeMSExpired
  64, // WriteConcernTimeout
  89, // NetworkTimeout
  91, // ShutdownInProgress
  100, // UnsatisfiableWriteConcern
  133, // FailedToSatisfyReadPreference
  134, // ReadConcernMajorityNotAvailableYet
  189, // PrimarySteppedDown
  202, // NetworkInterfaceExceededTimeLimit
  262, // ExceededTimeLimit
  365, // TemporarilyUnavailable
  462, // IngressRequestRateLimitExceeded
  9001, // SocketException
  10058, // LegacyNotPrimary
  10107, // NotWritablePrimary
  11600, // InterruptedAtShutdown
  11602, // InterruptedDueToReplStateChange
  13435, // NotPrimaryNoSecondaryOk
  13436, // NotPrimaryOrSecondary
  14031, // OutOfDiskSpace
]);

/** The cause of a bulk write without a reply: the driver wraps it like an error of the server. */
const beneath = (error: MongoError): MongoError =>
  error instanceof MongoBulkWriteError && (error.errorResponse as unknown) instanceof MongoError
    ? (error.errorResponse as unknown as MongoError)
    : error;

const failedWriteConcern = (error: MongoServerError): boolean =>
  error instanceof MongoWriteConcernError ||
  (error instanceof MongoBulkWriteError && error.result.getWriteConcernError() !== undefined);

/**
 * Whether the database cannot be reached, or the result of a write is unknown. The caller then gets a 503.
 * Before such a write is repeated, its result has to be read.
 */
export const isUnavailable = (thrown: unknown): boolean => {
  if (!(thrown instanceof MongoError)) return false;
  const error = beneath(thrown);
  if (error.hasErrorLabel('RetryableWriteError') || internalErrors.has(error.name)) return true;
  if (error instanceof MongoServerError) return failedWriteConcern(error) || unavailableCodes.has(error.code);
  return (
    error instanceof MongoNetworkError ||
    error instanceof MongoSystemError ||
    error instanceof MongoNotConnectedError ||
    error instanceof MongoTopologyClosedError ||
    error instanceof MongoClientClosedError
  );
};

/** Whether a write was refused by a unique index. */
export const isDuplicateKey = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === duplicateKey;
