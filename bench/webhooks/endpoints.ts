import { startProgram } from '../remote.ts';

/** An endpoint's answer: 204, 500, 204 after a second, or none until released. */
export type Behaviour = 'accepts' | 'fails' | 'is slow' | 'hangs';

/** One POST. */
export interface Arrival {
  /** The name of the endpoint. */
  path: string;
  eventId: string;
  /** From its headers. */
  attempt: number;
  /** Milliseconds since the epoch. */
  at: number;
  /** Whether the answer was 2xx. */
  acknowledged: boolean;
}

export interface Endpoints {
  url(n: number): string;
  /** Sets the further answer of each endpoint, also to held requests. An endpoint that is not named accepts. */
  behave(behaviours: readonly Behaviour[]): Promise<void>;
  /** All POSTs since the last call. */
  take(): Promise<Arrival[]>;
  stop(): Promise<void>;
}

export const pathOf = (n: number): string => `/endpoint-${n}`;

/** The partners' endpoints in a separate process. */
export async function startEndpoints(): Promise<Endpoints> {
  const program = startProgram('./webhooks/receiver.ts');
  const origin = await program.call<string>('start');
  return {
    url: (n) => `${origin}${pathOf(n)}`,
    behave: (behaviours) =>
      program.call('behave', Object.fromEntries(behaviours.map((behaviour, n) => [pathOf(n), behaviour]))),
    take: () => program.call('take'),
    stop: () => program.stop(),
  };
}
