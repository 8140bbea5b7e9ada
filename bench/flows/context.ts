import type { DatabaseServer } from '../database.ts';
import type { Load } from '../load/load.ts';
import type { Options } from '../options.ts';

/** What a measurement of flows needs. */
export interface FlowContext extends Pick<Options, 'rounds' | 'seconds' | 'smoke' | 'beside'> {
  database: DatabaseServer;
  load: Load;
  progress: (text: string) => void;
}
