/** Where the time comes from. `now()` is in milliseconds since the epoch. */
export interface Clock {
  now(): number;
  /** False while this process must not decide about money: its clock is off, or was not measured lately. */
  trusted(): boolean;
}

export interface DatabaseClock extends Clock {
  /** Measures once; rejects when the database cannot be asked. */
  measure(): Promise<void>;
  /** How far the local clock is from the database's, in milliseconds; positive when the local one is behind. */
  offset(): number;
  start(): void;
  stop(): void;
}

interface Settings {
  /** The database server's time in milliseconds since the epoch. */
  readServerTime: () => Promise<number>;
  /** The machine's wall clock; tests inject a skewed one. */
  localTime?: () => number;
  /** Milliseconds that only ever go forward. */
  uptime?: () => number;
}

const measureEvery = 30_000;
const largestOffset = 2_000;
const oldestMeasurement = 120_000;

/**
 * The local clock corrected by the offset to the database's, measured every 30 s, so that all processes
 * cut minutes and hours at the same moment. A process more than 2 s off is not trusted with money: its
 * operator should mend the machine's clock rather than have it papered over.
 */
export function createDatabaseClock({
  readServerTime,
  localTime = Date.now,
  uptime = () => performance.now(),
}: Settings): DatabaseClock {
  let offset = 0;
  let measuredAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  async function measure(): Promise<void> {
    const before = uptime();
    const server = await readServerTime();
    const after = uptime();
    offset = server + (after - before) / 2 - localTime();
    measuredAt = after;
  }

  return {
    now: () => Math.round(localTime() + offset),
    trusted: () => Math.abs(offset) <= largestOffset && uptime() - measuredAt <= oldestMeasurement,
    offset: () => offset,
    measure,
    start() {
      // A failed measurement is not lost on anybody: the last one ages, and `trusted` turns false.
      timer = setInterval(() => void measure().catch(() => undefined), measureEvery);
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
}
