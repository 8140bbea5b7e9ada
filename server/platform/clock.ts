/** Milliseconds that only go forward. */
export const monotonicTime = () => performance.now();

/** Where the time comes from. `now()` is in milliseconds since the epoch. */
export interface Clock {
  now(): number;
  /** False while this process must not decide about money: its clock is off, or was not measured lately. */
  trusted(): boolean;
}

export interface DatabaseClock extends Clock {
  /** Measures once; rejects when the database cannot be asked. */
  measure(): Promise<void>;
  /** The database's time minus the local time, in milliseconds. */
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

const lookEvery = 1_000;
const measureEvery = 30_000;
export const largestOffset = 2_000;
const oldestMeasurement = 120_000;

/**
 * The database's time, measured every 30 s and continued by a monotonic clock. All processes thus start minutes and hours
 * together. A process whose wall clock is more than 2 s off refuses charges, so that its operator corrects the clock. So
 * does one whose wall clock was set since the last measurement, or whose machine slept: it measures again within a second.
 */
export function createDatabaseClock({
  readServerTime,
  localTime = Date.now,
  uptime = monotonicTime,
}: Settings): DatabaseClock {
  /** The last measurement, by each of the three clocks. */
  let measured = { server: localTime(), local: localTime(), uptime: Number.NEGATIVE_INFINITY };
  let timer: NodeJS.Timeout | undefined;

  async function measure(): Promise<void> {
    const before = uptime();
    const server = await readServerTime();
    const after = uptime();
    measured = { server: server + (after - before) / 2, local: localTime(), uptime: after };
  }

  const isMeasured = () => measured.uptime > Number.NEGATIVE_INFINITY;
  const age = () => uptime() - measured.uptime;
  const offset = () => measured.server - measured.local;
  /** How far the wall clock has moved away from the monotonic clock since the measurement. */
  const stepped = () => localTime() - measured.local - age();
  const isSmall = (ms: number) => Math.abs(ms) <= largestOffset;

  return {
    now: () => Math.round(isMeasured() ? measured.server + age() : localTime()),
    trusted: () => age() <= oldestMeasurement && isSmall(offset()) && isSmall(stepped()),
    offset,
    measure,
    start() {
      let triedAt = uptime();
      timer = setInterval(() => {
        if (uptime() - triedAt < measureEvery && isSmall(stepped())) return;
        triedAt = uptime();
        // No alarm is needed: the last measurement ages, and `trusted` turns false.
        void measure().catch(() => undefined);
      }, lookEvery);
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
}
