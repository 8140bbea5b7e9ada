import type { Clock } from '../clock.ts';
import type { Logger } from '../telemetry/logging.ts';
import type { DatabaseFault, ReadDatabaseFault } from './availability.ts';
import { isUnavailable } from './connect.ts';

interface Dependencies<T> {
  read: () => Promise<T>;
  databaseFault: ReadDatabaseFault;
  clock: Pick<Clock, 'now'>;
  log: Pick<Logger, 'warn'>;
}

/** What was read. Where it is not of now, `away` says why; `last` is undefined where nothing was read since the start. */
export interface Remembered<T> {
  last: { value: T; at: Date } | undefined;
  away: DatabaseFault | undefined;
}

/** A read of the database that answers from memory while the database is away: at once, where that is known. */
export function createRememberedRead<T>({
  read,
  databaseFault,
  clock,
  log,
}: Dependencies<T>): () => Promise<Remembered<T>> {
  let last: Remembered<T>['last'];
  let failing: DatabaseFault | undefined;

  async function refresh(): Promise<void> {
    try {
      last = { value: await read(), at: new Date(clock.now()) };
      failing = undefined;
    } catch (err) {
      if (!isUnavailable(err)) log.warn({ err }, 'figures for operators could not be read');
      failing = { reason: (err as Error).message, since: failing?.since ?? new Date(clock.now()) };
    }
  }

  return async () => {
    if (databaseFault() === undefined) await refresh();
    return { last, away: databaseFault() ?? failing };
  };
}
