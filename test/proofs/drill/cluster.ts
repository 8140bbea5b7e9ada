import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { retry } from '../faults/retry.ts';
import type { Random } from '../simulation/random.ts';
import { electionKinds, type Plan, startReplicaSet } from './facade/replica-set.ts';

/** The result of one election. */
export interface Held {
  kind: string;
  /** The number of writes that were made and rolled back; undefined if it cannot be known. */
  rolledBack?: number;
  hasSilentCommits?: boolean;
}

/** The replica set of the drill. */
export interface Cluster {
  uri: string;
  /** Ends the present primary. Resolves when another primary answers. */
  elect(): Promise<Held>;
  close(): Promise<void>;
}

interface Settings {
  random: Random;
  onFault: (error: unknown) => void;
  plan: Partial<Plan>;
}

/** Opens the simulated replica set. It holds all kinds of elections, equally often and in a random order. */
export async function openFacade({ random, onFault, plan }: Settings): Promise<Cluster> {
  const set = await startReplicaSet({ random, onFault, plan });
  const kinds = plan.kinds ?? electionKinds;
  let left = [...kinds];
  return {
    uri: set.uri('drill'),
    async elect() {
      if (left.length === 0) left = [...kinds];
      const [kind = 'crash'] = left.splice(random.int(0, left.length - 1), 1);
      return set.elect(kind);
    },
    close: set.close,
  };
}

const steppedDownSeconds = 10;

/**
 * Opens a real MongoDB replica set. For an election, its primary steps down, if possible without waiting for the other
 * members. The drill uses a database of its own, and drops it.
 */
export async function openReal(uri: string): Promise<Cluster> {
  const name = `svc_drill_${process.pid}`;
  const [, hosts = '', options = ''] = /^(mongodb(?:\+srv)?:\/\/[^/?]*)(?:\/[^?]*)?(\?.*)?$/.exec(uri) ?? [];
  const client = await new MongoClient(uri, { writeConcern: { w: 'majority' } }).connect();
  const admin = client.db('admin');
  const primary = async () => String((await admin.command({ hello: 1 }))['me']);
  return {
    uri: `${hosts}/${name}${options}`,
    async elect() {
      const before = await retry(primary);
      await admin
        .command({ replSetStepDown: steppedDownSeconds, secondaryCatchUpPeriodSecs: 0, force: true })
        .catch(() => undefined); // its own connection may end with the primary
      await retry(async () => {
        if ((await primary()) === before) throw new Error(`${before} is still the primary`);
      });
      await sleep(100);
      return { kind: 'step-down' };
    },
    async close() {
      await retry(() => client.db(name).dropDatabase());
      await client.close();
    },
  };
}
