import type { Armed } from './kill-points.ts';

/** What the suite sends to a server under test, which answers each with the report of that name. */
export type Order =
  | { order: 'start' }
  | { order: 'arm'; fault: Armed }
  /** To look which other processes take postings. */
  | { order: 'refresh' }
  /** That many sweeps at once. */
  | { order: 'sweep'; times: number };

/** `loaded` comes first, unasked; `fired` where the fault freezes this process or kills another. */
export type Report = { report: Order['order'] | 'loaded' | 'fired' };
