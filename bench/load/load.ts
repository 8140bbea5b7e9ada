import { type Remote, startProgram } from '../remote.ts';

/** A form to post, or a GET with this Authorization header. */
export type LoadRequest = { body: string; authorization?: never } | { authorization: string; body?: never };

export interface Order {
  /** Callers are spread over these in turn. */
  origins: readonly string[];
  path: string;
  /** Each is sent once. */
  requests: readonly LoadRequest[];
  callers: number;
  /** Spaced evenly, so that no more are sent in a second; without it, as fast as they are answered. */
  perSecond?: number | undefined;
  keepBodies?: boolean;
}

export interface LoadResult {
  seconds: number;
  /** How many answers had each status; errors are counted by their name. */
  statuses: Record<string, number>;
  /** Milliseconds from sending to the end of the answer. */
  p50: number;
  p99: number;
  /** Processor time of the load generator. */
  cpuSeconds: number;
  /** Of all answers, with `keepBodies`. */
  bodies: string[];
  /** The first few answers that were not 200. */
  failures: string[];
}

export interface Load {
  /** @throws where any answer is not 200 */
  run(order: Order): Promise<LoadResult>;
  stop(): Promise<void>;
}

export function startLoad(): Load {
  const program: Remote = startProgram('./load/program.ts');
  return {
    async run(order) {
      const result = await program.call<LoadResult>('run', order);
      if (result.failures.length === 0) return result;
      const { statuses, failures } = result;
      throw new Error(`${order.path} answers ${JSON.stringify(statuses)}, such as ${failures.join(', ')}`);
    },
    stop: () => program.stop(),
  };
}
