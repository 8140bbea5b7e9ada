/** Monotonic time in milliseconds, for measuring durations. */
export const monotonicTime = () => performance.now();

/** A source of the time. `now()` is in milliseconds since 1970. */
export interface Clock {
  now(): number;
  /** False while this process must not decide about money: its clock is wrong, or the last measurement is too old. */
  trusted(): boolean;
}

interface Settings {
  /** The database server's time in milliseconds since the epoch. */
  readServerTime: () => Promise<number>;
  /** The machine's wall clock; tests inject a skewed one. */
  localTime?: () => number;
  /** Monotonic time in milliseconds. */
  uptime?: () => number;
}

/** Milliseconds between two checks of whether a new measurement is needed. */
const checkEvery = 1_000;
/** Milliseconds between two measurements. */
const measureEvery = 30_000;
/** The largest deviation of the wall clock, in milliseconds, with which the process decides about money. */
export const largestOffset = 2_000;
/** The oldest measurement, in milliseconds, with which the process decides about money. */
const oldestMeasurement = 120_000;

/**
 * The database's time, measured every 30 s and continued by a monotonic clock. All processes therefore start minutes and
 * hours together. A process whose wall clock is more than 2 s off refuses charges until an operator corrects it. If the
 * wall clock was set, or the machine slept, the process refuses charges and measures again within a second.
 */
export function createDatabaseClock({
  readServerTime,
  localTime = Date.now,
  uptime = monotonicTime,
}: Settings) {
  /** The last measurement: the time of each of the three clocks. */
  let measured = { server: localTime(), local: localTime(), uptime: Number.NEGATIVE_INFINITY };
  /** When the last measurement was started, by the monotonic clock. */
  let measureStartedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  /** Measures the offset once. Rejects if the database cannot be reached. */
  async function measure(): Promise<void> {
    const before = uptime();
    measureStartedAt = before;
    const server = await readServerTime();
    const after = uptime();
    // The server read its clock about half-way between the request and the reply.
    const sinceServerTime = (after - before) / 2;
    measured = { server: server + sinceServerTime, local: localTime(), uptime: after };
  }

  const isMeasured = () => measured.uptime > Number.NEGATIVE_INFINITY;
  const age = () => uptime() - measured.uptime;
  /** The database's time minus the local time, in milliseconds. */
  const offset = () => measured.server - measured.local;
  /** How far the wall clock has moved away from the monotonic clock since the measurement. */
  const drift = () => localTime() - measured.local - age();
  const isSmall = (ms: number) => Math.abs(ms) <= largestOffset;

  async function measureIfNeeded(): Promise<void> {
    const isDue = uptime() - measureStartedAt >= measureEvery;
    const wasClockSet = !isSmall(drift());
    if (isDue || wasClockSet) await measure();
  }

  return {
    now: () => Math.round(isMeasured() ? measured.server + age() : localTime()),
    trusted: () => age() <= oldestMeasurement && isSmall(offset()) && isSmall(drift()),
    offset,
    measure,
    /** Measures every 30 s, and within a second after the wall clock was set. */
    start(): void {
      // Failures are ignored, because `trusted` becomes false when the last measurement is too old.
      timer = setInterval(() => void measureIfNeeded().catch(() => undefined), checkEvery).unref();
    },
    stop: () => clearInterval(timer),
  };
}
export type DatabaseClock = ReturnType<typeof createDatabaseClock>;
