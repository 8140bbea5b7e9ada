import type { Armed } from './fault.ts';

/** What the suite tells a server under test, which answers each with the report of that name. */
export type Order =
  | { order: 'start' }
  | { order: 'arm'; fault: Armed }
  /** That many sweeps at once. */
  | { order: 'sweep'; times: number };

/** `loaded` comes first, unasked; `fired` where the fault kills another process. */
export type Report = { report: Order['order'] | 'loaded' | 'fired' };
