import type { FaultPoint } from './fault.ts';
import { createGate } from './patience.ts';
import type { Rule } from './proxy.ts';
import type { Site } from './site.ts';

/** What is done to the server or its database, and where. */
export type Strike =
  | { kills: 'server' | 'database'; point: FaultPoint }
  /** The server is asked to stop, and dies on the way. */
  | { kills: 'stopping server'; point: FaultPoint }
  /** The server stays as it is, and its words with the database do not arrive. `release`: when a held one does. */
  | { interferes: Rule; release?: 'after the exchange' | 'after settlement' | 'past the ring' };

/** A strike on its way. */
export interface Blow {
  /** Resolves when it has struck. */
  struck: Promise<void>;
  hasStruck(): boolean;
  /** Resolves when server and database are up again. */
  recover(): Promise<void>;
  /** Lets go what was held back. */
  release(): Promise<void>;
}

const nothing = async (): Promise<void> => undefined;

/** `struck` as something that can be asked, too; one that fails has not struck. */
export function blowOf(struck: Promise<void>, rest: Partial<Pick<Blow, 'recover' | 'release'>>): Blow {
  let happened = false;
  const { opened, open } = createGate();
  struck.then(
    () => {
      happened = true;
      open();
    },
    () => undefined,
  );
  return { struck: opened, hasStruck: () => happened, recover: nothing, release: nothing, ...rest };
}

/** Prepares a strike at the `hit`-th time that its moment comes. */
export async function prepare(strike: Strike, site: Site, hit: number): Promise<Blow> {
  const { lane } = site;
  if ('interferes' in strike) {
    const { met, release } = lane.proxy.arm(strike.interferes, hit);
    return blowOf(met, { release });
  }
  const { kills, point } = strike;
  if (kills === 'database') {
    const victim = lane.databaseProcess();
    const { fired } = await site.server().arm({ point, hit, victim, from: 'now' });
    const blow = blowOf(fired, {});
    // A server that has not struck must not do so later.
    const recover = async () => {
      if (blow.hasStruck()) await lane.databaseBack();
      else await site.restart();
    };
    return { ...blow, recover };
  }
  const from = kills === 'stopping server' ? 'SIGTERM' : 'now';
  const { fired } = await site.server().arm({ point, hit, from });
  site.preload();
  return blowOf(fired, { recover: site.restart });
}
