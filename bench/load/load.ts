import { type Remote, startProgram } from '../remote.ts';

/** A form to post, or a GET with this Authorization header. */
export type LoadRequest = { body: string; authorization?: never } | { authorization: string; body?: never };

export interface Order {
  /** Addresses to which callers are spread in turn. */
  origins: readonly string[];
  path: string;
  /** The requests. Each is sent once, unless `forSeconds` is set. */
  requests: readonly LoadRequest[];
  callers: number;
  /** Requests per second, evenly spaced; by default as fast as they are answered. */
  perSecond?: number | undefined;
  keepBodies?: boolean;
  /** The text of a 429 that is no failure. */
  refusal?: string | undefined;
  /** Seconds in which refused requests are sent again after the others. Later, nothing is sent. */
  forSeconds?: number | undefined;
  /** Milliseconds after which a caller repeats a request with 503. Without it, a 503 is a failure. */
  retryMs?: number | undefined;
  /** The text of a 400 that is no failure, because the answer to an earlier attempt was lost. */
  lost?: string | undefined;
}

export interface LoadResult {
  seconds: number;
  /** The number of answers by status; errors are counted by name. */
  statuses: Record<string, number>;
  /** The number of 200s by origin. */
  granted: number[];
  /** Answers 200 in each tenth of a second since the start. */
  tenths: number[];
  /** Milliseconds from sending to the end of the answer. */
  p50: number;
  p99: number;
  /** Processor time of the load generator. */
  cpuSeconds: number;
  /** The bodies of all answers, if `keepBodies` is set. */
  bodies: string[];
  /** The first few unexpected answers: neither 200 nor the expected refusal. */
  failures: string[];
}

export interface Load {
  /** @throws if any answer is neither 200 nor the expected refusal */
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
