import {
  MongoClientClosedError,
  MongoError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoServerError,
  MongoSystemError,
  MongoTopologyClosedError,
} from 'mongodb';

/** Driver errors that have no exported class, by the name they carry. */
const poolErrors = new Set([
  'MongoPoolClearedError',
  'MongoPoolClosedError',
  'MongoWaitQueueTimeoutError',
  'MongoOperationTimeoutError',
]);

/**
 * Answers of a server that cannot serve now, or that cannot tell whether a write will last: the state-change
 * errors of the driver specification, write-concern failures and exceeded times.
 */
const unavailableCodes = new Set([
  6, 7, 50, 64, 89, 91, 100, 189, 202, 262, 317, 358, 384, 462, 9001, 10058, 10107, 11600, 11602, 13388,
  13435, 13436,
]);

/** The embedded engine between its last command and its end. */
const isEngineClosed = (error: MongoServerError): boolean => /engine is (closed|shut)/i.test(error.message);

/**
 * Whether an error says that the database is away, or that the fate of a write is not known: the answer to the
 * caller is then a 503, and what the write would have done has to be read before it is done again.
 */
export const isUnavailable = (error: unknown): boolean => {
  if (!(error instanceof MongoError)) return false;
  if (error.hasErrorLabel('RetryableWriteError') || poolErrors.has(error.name)) return true;
  if (error instanceof MongoServerError) {
    const concern: unknown = error['writeConcernError'] ?? error.errorResponse['writeConcernError'];
    return concern !== undefined || unavailableCodes.has(Number(error.code)) || isEngineClosed(error);
  }
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
  error instanceof MongoServerError && error.code === 11000;
