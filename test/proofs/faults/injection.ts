import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from './environment.ts';
import type { Armed, KillPoint } from './kill-points.ts';
import type { Rule } from './proxy.ts';
import { createGate } from './retry.ts';

/** A fault of the first server, of its database, or of a message between them, with the point at which it occurs. */
export type Fault =
  | {
      /**
       * What fails. `stopping server`: the server gets a stop signal and crashes during the stop. `frozen server`: the
       * server pauses for longer than a caller waits. `refusing link` and `silent link`: for the same time, connections to
       * its private listener are refused or get no answer. `wrong clock`: its wall clock is set to a wrong time.
       */
      kills:
        | 'server'
        | 'database'
        | 'stopping server'
        | 'frozen server'
        | 'refusing link'
        | 'silent link'
        | 'wrong clock';
      point: KillPoint;
      /** The action of the proxy before the fault, so that the server reaches the point. */
      reachedBy?: readonly Rule[];
    }
  /** Whether the crash is before the message reaches the database, or after the database has answered. */
  | { kills: 'server' | 'database'; message: Rule['matches']; side: 'before' | 'after' }
  /** `release`: a held message reaches the database. */
  | { interferes: readonly Rule[]; release?: 'after the exchanges' | 'after the sweep' };

/** An armed fault. */
export interface InjectedFault {
  /** Resolves when the fault has occurred. */
  fired: Promise<void>;
  hasFired(): boolean;
  /** Resolves when server and database are running again. */
  recover(): Promise<void>;
  /** Releases held messages. */
  release(): Promise<void>;
}

/** The length of a pause in milliseconds. It is longer than an exchange may wait before its next step. */
const frozenFor = 3_000;

const nothing = async (): Promise<void> => undefined;

/** Returns the fault with a function that tells whether it has occurred. If `fired` fails, the fault has not occurred. */
export function injectedFault(
  fired: Promise<void>,
  rest: Partial<Pick<InjectedFault, 'recover' | 'release'>>,
): InjectedFault {
  let happened = false;
  const { opened, open } = createGate();
  fired.then(
    () => {
      happened = true;
      open();
    },
    () => undefined,
  );
  return { fired: opened, hasFired: () => happened, recover: nothing, release: nothing, ...rest };
}

/** Crashes the server or the database at a message. Kills by a signal, so that the crash does not depend on the server's code. */
function injectAtMessage(
  { kills, message, side }: Extract<Fault, { message: unknown }>,
  environment: Environment,
  hit: number,
): InjectedFault {
  const { proxy, databaseProcess, databaseBack } = environment.worker;
  const { opened, open } = createGate();
  const victim = databaseProcess();
  function kill(): void {
    if (kills === 'server') environment.server().signal('SIGKILL');
    else if (victim !== undefined) process.kill(victim, 'SIGKILL');
    open();
  }
  proxy.arm([{ matches: message, action: { do: 'kill', side, kill } }], hit);
  const injected = injectedFault(opened, {});
  if (kills === 'server') environment.preload();
  const recover = async () => {
    if (!injected.hasFired()) proxy.disarm();
    else if (kills === 'server') await environment.restart();
    else await databaseBack();
  };
  return { ...injected, recover };
}

/** Arms a fault for the `hit`-th occurrence of its point. */
export async function inject(fault: Fault, environment: Environment, hit: number): Promise<InjectedFault> {
  const { proxy, databaseProcess, databaseBack } = environment.worker;
  if ('interferes' in fault) {
    const { met, release } = proxy.arm(fault.interferes, hit);
    return injectedFault(met, { release });
  }
  if ('message' in fault) return injectAtMessage(fault, environment, hit);
  const { kills, point, reachedBy } = fault;
  if (reachedBy) proxy.arm(reachedBy, 1);
  const arm = (rest: Partial<Armed>) =>
    environment.server().arm({ point, hit, signal: 'SIGKILL', from: 'now', ...rest });

  switch (kills) {
    case 'database': {
      const { fired } = await arm({ victim: databaseProcess() });
      const injected = injectedFault(fired, {});
      // If the fault has not occurred, the server is restarted, so that the fault cannot occur later.
      const recover = async () => {
        if (injected.hasFired()) await databaseBack();
        else await environment.restart();
      };
      return { ...injected, recover };
    }
    case 'frozen server': {
      const { fired } = await arm({ signal: 'SIGSTOP' });
      const injected = injectedFault(fired, {});
      const recover = async () => {
        if (!injected.hasFired()) return environment.restart();
        await sleep(frozenFor);
        environment.server().signal('SIGCONT');
      };
      return { ...injected, recover };
    }
    case 'refusing link':
    case 'silent link': {
      const { link } = environment;
      const { fired } = await arm({ signal: 'part' });
      const cut = fired.then(() => (kills === 'silent link' ? link?.hang() : link?.cut()));
      const injected = injectedFault(cut, {});
      const recover = async () => {
        if (!injected.hasFired()) return environment.restart();
        await sleep(frozenFor);
        await link?.restore();
      };
      return { ...injected, recover };
    }
    case 'wrong clock': {
      const { fired } = await arm({ signal: 'set clock' });
      const injected = injectedFault(fired, {});
      const recover = async () => {
        if (injected.hasFired()) await sleep(frozenFor);
        await environment.restart();
      };
      return { ...injected, recover };
    }
    case 'server':
    case 'stopping server': {
      const { fired } = await arm({ from: kills === 'server' ? 'now' : 'SIGTERM' });
      environment.preload();
      return injectedFault(fired, { recover: environment.restart });
    }
  }
}
