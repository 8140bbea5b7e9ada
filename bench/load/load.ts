import { type Remote, startProgram } from '../remote.ts';

/** A form to post, or a GET with this Authorization header. */
export type LoadRequest = { body: string; authorization?: never } | { authorization: string; body?: never };

export interface Order {
  /** Callers are spread over these in turn. */
  origins: readonly string[];
  path: string;
  /** Each is sent once, unless `forSeconds` says otherwise. */
  requests: readonly LoadRequest[];
  callers: number;
  /** Spaced evenly, so that no more are sent in a second; without it, as fast as they are answered. */
  perSecond?: number | undefined;
  keepBodies?: boolean;
  /** What an answer 429 says that is no failure. */
  refusal?: string | undefined;
  /** Seconds: until then, what such an answer refuses is sent again, behind the others; later, nothing is sent. */
  forSeconds?: number | undefined;
  /** Milliseconds after which a caller repeats a request that was answered 503; without it, a 503 is a failure. */
  retryMs?: number | undefined;
  /** What an answer 400 says where the answer to an earlier try was lost; it is no failure. */
  lost?: string | undefined;
}

export interface LoadResult {
  seconds: number;
  /** How many answers had each status; errors are counted by their name. */
  statuses: Record<string, number>;
  /** Answers 200 of each origin. */
  granted: number[];
  /** Answers 200 in each tenth of a second since the start. */
  tenths: number[];
  /** Milliseconds from sending to the end of the answer. */
  p50: number;
  p99: number;
  /** Processor time of the load generator. */
  cpuSeconds: number;
  /** Of all answers, with `keepBodies`. */
  bodies: string[];
  /** The first few answers that were neither 200 nor the refusal that was expected. */
  failures: string[];
}

export interface Load {
  /** @throws where any answer is neither 200 nor the refusal that was expected */
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
