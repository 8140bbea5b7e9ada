import { type Remote, startProgram } from '../../remote.ts';
import type { Origins } from './program.ts';

/** The host name of the https endpoints, which is in the tests' certificate. */
export const receiverHost = 'partner.example';

/** Whether an endpoint speaks TLS: the second half does. */
export const isTls = (endpoint: number, endpoints: number): boolean => endpoint >= endpoints / 2;

export const receiverUrl = (origins: Origins, endpoint: number, endpoints: number): URL =>
  new URL(`/endpoint-${endpoint}`, isTls(endpoint, endpoints) ? origins.https : origins.http);

/** What arrived since the last call. */
export interface Arrivals {
  /** How many different events. */
  events: number;
  /** How many POSTs repeated an event. */
  duplicates: number;
  /** Milliseconds from when each event was due. */
  lateness: number[];
  /** When the last one arrived, in milliseconds since the epoch. */
  lastAt: number;
}

export interface Receivers {
  origins: Origins;
  count(): Promise<number>;
  take(): Promise<Arrivals>;
  stop(): Promise<void>;
}

/** The endpoints in a separate process. All of them accept. */
export async function startReceivers(): Promise<Receivers> {
  const program: Remote = startProgram('./webhooks/queues/receiver.ts');
  return {
    origins: await program.call<Origins>('start'),
    count: () => program.call('count'),
    take: () => program.call('take'),
    stop: () => program.stop(),
  };
}
