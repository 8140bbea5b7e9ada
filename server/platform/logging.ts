import { type Logger, pino, stdTimeFunctions } from 'pino';

export type { Logger };

/** Paths whose values never reach a log line, wherever a caller puts them by mistake. */
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

/** One level down too; but the `code` of an error (ECONNREFUSED, 11000) is what operators need. */
const nestedPaths = [
  ...secretPaths.filter((path) => path !== 'code').map((path) => `*.${path}`),
  'body.code',
  'query.code',
];

/**
 * The process's log: JSON lines on stdout, or on stderr when stdout belongs to a person (`pretty` start-up lines).
 * @param level pino level name; `silent` for none
 */
export function createLogger(level: string): Logger {
  return pino({
    level,
    base: { pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    redact: { paths: [...secretPaths, ...nestedPaths], censor: '[redacted]' },
  });
}
