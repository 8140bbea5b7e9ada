import type { Armed } from './kill-points.ts';

/** Messages from the suite to a server under test. Each is answered by the report with the same name. */
export type Order =
  | { order: 'start' }
  | { order: 'arm'; fault: Armed }
  /** Asks which other processes accept postings. */
  | { order: 'refresh' }
  /** The number of simultaneous sweeps. */
  | { order: 'sweep'; times: number };

/** `loaded` is sent first without a request. `fired` is sent if the fault pauses this process or kills another. */
export type Report = { report: Order['order'] | 'loaded' | 'fired' };
