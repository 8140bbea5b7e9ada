import type { Credentials } from '../contenders/contender.ts';
import { type Remote, startProgram } from '../remote.ts';

/** One user's path through an authorization server's pages, from the authorization request to the code. */
export interface Flow {
  /** Path and query of the authorization request. */
  start: string;
  /** The user's input on each page with a form, in order: `name=value`. */
  answers: readonly string[];
  /** The partner's client, which exchanges the code and reads the claims. Without it, the flow ends with the code. */
  exchangedBy?: Credentials | undefined;
}

export interface FlowOrder {
  origin: string;
  flows: readonly Flow[];
  /** Flows in flight. */
  callers: number;
  tokenPath: string;
  userinfoPath: string;
}

export interface FlowResult {
  /** Milliseconds since the epoch. */
  startedAt: number;
  seconds: number;
  /** Milliseconds of a flow from its first request to its last answer. */
  p50: number;
  p99: number;
  /** HTTP requests of all flows. */
  requests: number;
  /** Processor time of the client. */
  cpuSeconds: number;
}

/** The client in a process of its own, the same for every authorization server. */
export interface FlowClient {
  /** @throws if a flow ends without a code, or its code yields no claims */
  run(order: FlowOrder): Promise<FlowResult>;
  stop(): Promise<void>;
}

export function startFlowClient(): FlowClient {
  const program: Remote = startProgram('./flows/program.ts');
  return { run: (order) => program.call('run', order), stop: () => program.stop() };
}
