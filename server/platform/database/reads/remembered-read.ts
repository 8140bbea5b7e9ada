import type { Clock } from '../../clock.ts';
import type { Logger } from '../../telemetry/logging.ts';
import type { DatabaseFault, ReadDatabaseFault } from '../availability.ts';
import { isUnavailable } from '../connect.ts';

interface Dependencies<T> {
  read: () => Promise<T>;
  databaseFault: ReadDatabaseFault;
  clock: Pick<Clock, 'now'>;
  log: Pick<Logger, 'warn'>;
}

/** The result of a read that may have failed. */
export interface Remembered<T> {
  /** The last value that was read, perhaps by an earlier call; undefined if none was read since the start. */
  last: { value: T; at: Date } | undefined;
  /** Why this call could not read the value; undefined if it did. */
  away: DatabaseFault | undefined;
}

/** Reads from the database. While the database is away, returns the last value, without a wait if the fault is known. */
export function createRememberedRead<T>({
  read,
  databaseFault,
  clock,
  log,
}: Dependencies<T>): () => Promise<Remembered<T>> {
  let last: Remembered<T>['last'];
  /** The fault of the last read. The client's heartbeats may not have noticed it. */
  let readFault: DatabaseFault | undefined;

  async function refresh(): Promise<void> {
    try {
      last = { value: await read(), at: new Date(clock.now()) };
      readFault = undefined;
    } catch (err) {
      if (!isUnavailable(err)) log.warn({ err }, 'figures for operators could not be read');
      readFault = { reason: (err as Error).message, since: readFault?.since ?? new Date(clock.now()) };
    }
  }

  return async () => {
    if (databaseFault() === undefined) await refresh();
    return { last, away: databaseFault() ?? readFault };
  };
}
