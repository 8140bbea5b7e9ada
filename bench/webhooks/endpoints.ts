import { startProgram } from '../remote.ts';

/** How an endpoint answers: 204, 500, 204 after a second, or not until it is told to. */
export type Behaviour = 'accepts' | 'fails' | 'is slow' | 'hangs';

/** One POST. */
export interface Arrival {
  /** Names the endpoint. */
  path: string;
  eventId: string;
  /** As its headers say. */
  attempt: number;
  /** Milliseconds since the epoch. */
  at: number;
  /** Whether it was answered with 2xx. */
  acknowledged: boolean;
}

export interface Endpoints {
  url(n: number): string;
  /** How each answers from here on, to what it holds too; one that is not named accepts. */
  behave(behaviours: readonly Behaviour[]): Promise<void>;
  /** Every POST since the last call. */
  take(): Promise<Arrival[]>;
  stop(): Promise<void>;
}

export const pathOf = (n: number): string => `/endpoint-${n}`;

/** The endpoints of partners, in a process of their own. */
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
