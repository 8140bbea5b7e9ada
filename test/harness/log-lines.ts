import { createLogger } from '../../server/platform/telemetry/logging.ts';

export type LogLine = Record<string, unknown>;

/** Creates a logger with the server's configuration. `lines` has its output so far; `of` returns the lines of one request. */
export function recordingLogger(roles: readonly string[] = []) {
  const lines: LogLine[] = [];
  const write = (text: string) => void lines.push(JSON.parse(text) as LogLine);
  const of = (requestId: string | null | undefined) =>
    lines.filter((line) => line['requestId'] === requestId);
  return { logger: createLogger('info', roles, { write }), lines, of };
}
