import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { retry } from '../faults/retry.ts';
import type { Random } from '../simulation/random.ts';
import { electionKinds, type Plan, startReplicaSet } from './facade/replica-set.ts';

/** One election, when it has ended. */
export interface Held {
  kind: string;
  /** Writes that were made and rolled back; undefined where that cannot be known. */
  rolledBack?: number;
  committedSilently?: boolean;
}

/** Where the drill takes place. */
export interface Cluster {
  uri: string;
  /** Ends the present primary; resolves when another one answers. */
  elect(): Promise<Held>;
  close(): Promise<void>;
}

interface Settings {
  random: Random;
  onFault: (error: unknown) => void;
  plan: Partial<Plan>;
}

/** Each kind of election as often as the others, in a random order. */
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

/** Seconds. */
const steppedDownFor = 10;

/**
 * A replica set of MongoDB. Its primary steps down, and does not wait for the others first, as far as the server allows that.
 * The drill has a database of its own on it, which it drops.
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
        .command({ replSetStepDown: steppedDownFor, secondaryCatchUpPeriodSecs: 0, force: true })
        .catch(() => undefined); // its own connection may end with it
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
