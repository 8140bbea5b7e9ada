import { type DestinationStream, type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino';
import { isUnavailable } from '../database/failures.ts';
import { version } from '../version.ts';

export type { Logger };

/** Fields whose values are never logged, even if a caller sends them in the wrong place. */
const secretPaths = [
  'authorization',
  'cookie',
  'code',
  'client_secret',
  'clientSecret',
  'code_verifier',
  'token',
  'access_token',
  'apiKey',
  'secret',
  'signingSecret',
  'state',
];

/** The same fields one level down, except the `code` of an error (ECONNREFUSED, 11000), which operators need. */
const nestedPaths = [
  ...secretPaths.filter((path) => path !== 'code').map((path) => `*.${path}`),
  'body.code',
  'query.code',
];

/** The most characters of a text about an error in a log line. A message may repeat what a caller sent. */
const longestText = 2_048;

/** An error in one line, with the errors that caused it. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error).slice(0, longestText);
  const text = `${error.name}: ${error.message}`.slice(0, longestText);
  return (error.cause === undefined ? text : `${text} ← ${causeOf(error.cause)}`).slice(0, longestText);
}

/** The texts and numbers of an error. Its other fields, such as all faults of an input, can be very long. */
function describeUnknown(error: Error): Record<string, unknown> {
  const fields = Object.entries(stdSerializers.err(error)).flatMap(([name, value]: [string, unknown]) => {
    if (typeof value === 'string') return [[name, value.slice(0, longestText)]];
    return typeof value === 'number' || typeof value === 'boolean' ? [[name, value]] : [];
  });
  return Object.fromEntries(fields);
}

/** Failures of the database are expected: they are logged without a stack. */
const describeError = (error: Error) =>
  isUnavailable(error) ? { type: error.name, message: causeOf(error) } : describeUnknown(error);

/**
 * The process's log, as JSON lines.
 * @param level pino level name; `silent` for none
 * @param roles what this process does
 * @param destination default: stdout
 */
export function createLogger(
  level: string,
  roles: Iterable<string> = [],
  destination?: DestinationStream,
): Logger {
  const role = [...roles].join(',');
  const options = {
    level,
    base: { service: 'svc-gateway', version, ...(role && { role }), pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    serializers: { err: describeError },
    redact: { paths: [...secretPaths, ...nestedPaths], censor: '[redacted]' },
  };
  return destination ? pino(options, destination) : pino(options);
}
