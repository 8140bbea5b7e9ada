import type { EventDraft } from '../../../server/platform/database/event-draft.ts';
import type { Delivery, StoredEvent } from '../../../server/webhooks/delivery/delivery.ts';
import type { Endpoint } from '../../../server/webhooks/delivery/endpoint.ts';
import { createNetwork } from '../simulation/network.ts';
import type { Random } from '../simulation/random.ts';
import { type Actor, createActor, type Schedule } from '../simulation/schedule.ts';
import type { WebhooksCore } from './edited-server.ts';
import { createJobs, type Jobs } from './jobs.ts';
import type { Plan } from './plan.ts';
import { createReceivers, type Sent } from './receivers.ts';
import { createReplicaSet } from './replica-set.ts';
import { connectStores, type StoreGuards } from './store.ts';

/** A running process. */
interface Process {
  actor: Actor;
  isWorker: boolean;
  machine: { skew: number };
  webhooks: ReturnType<WebhooksCore['createWebhooks']>;
}

type On = Endpoint & { state: 'on' };

const idKey = Buffer.alloc(32, 7);
const sweepEveryMs = 15_000;
const retryDelays = [4_000, 9_000];
/** Collections of bulk jobs, of which there are none. */
const noBulk = { collection: () => ({ findOne: async () => null }) };
const quiet = { warn: () => undefined, info: () => undefined };

interface Settings {
  plan: Plan;
  core: WebhooksCore;
  guards: StoreGuards;
  schedule: Schedule;
  random: Random;
  onSend: (sent: Sent) => void;
  log: (actor: string, text: () => string) => void;
}

/** The processes of one installation with their database, jobs, endpoints and receivers. */
export function createHarness({ plan, core, guards, schedule, random, onSend, log }: Settings) {
  const { confirmation } = plan;
  const replicaSet = createReplicaSet({ schedule, random, confirmation, log });
  const documents = {
    events: replicaSet.collection<StoredEvent>(),
    deliveries: replicaSet.collection<Delivery>(),
  };
  const jobs: Jobs = new Set();
  const endpoints = new Map<string, On>();
  const processes: Process[] = [];
  const weather = { ...plan.conditions };
  /** Times of restarts and resumptions, after which a process may act on what it has read before. */
  const resumed = new Map<Actor, number>();
  const database = replicaSet.server;
  const network = createNetwork({ schedule, random, conditions: weather, database, survives, log });
  const receivers = createReceivers({ schedule, random, plan, onSend });
  const director = createActor('operator');

  function survives(caller: Actor, name: () => string): boolean {
    if (!random.chance(weather.crashRate)) return true;
    log(caller.name, () => `crashes at ${name()}`);
    crash(caller);
    return false;
  }

  function crash(actor: Actor): void {
    actor.alive = false;
    const at = processes.findIndex((process) => process.actor === actor);
    const [ended] = processes.splice(at, 1);
    // Its requests end with it.
    for (const sent of receivers.sent)
      if (sent.process === actor) sent.end = Math.min(sent.end, schedule.now());
    if (ended) schedule.after(random.between(100, 5_000), director, () => void start(ended.isWorker));
  }

  let started = 0;
  function start(isWorker: boolean): void {
    started += 1;
    const actor = createActor(`process ${started}`);
    const machine = { skew: random.between(-plan.skew, plan.skew) };
    const now = () => Math.round(schedule.now() + machine.skew);
    schedule.after(0, actor, () => {
      const webhooks = core.createWebhooks({
        db: noBulk as never,
        clock: { now },
        idKey,
        scheduler: createJobs(actor, { jobs, network, now }),
        logger: quiet as never,
        worker: isWorker,
        leaseTime: plan.leaseTime,
        endpoint: (keyId) =>
          network.call(actor, () => `endpoint ${keyId}`, {
            run: () => ({ ...endpoints.get(keyId) }) as Endpoint,
          }),
        retryDelays,
        localhostAllowed: true,
        ownPorts: () => [],
        userAgent: 'simulation',
        wrap: () => ({
          ...connectStores(actor, { documents, network, guards }),
          post: receivers.postAs(actor),
        }),
      });
      processes.push({ actor, isWorker, machine, webhooks });
      void webhooks.start();
      const sweep = (): void => {
        webhooks.sweep
          .sweep()
          .catch(() => undefined)
          .finally(() => setTimeout(sweep, sweepEveryMs));
      };
      sweep();
    });
  }

  return {
    ...{ documents, jobs, endpoints, processes, weather, resumed, receivers, director, crash, start },
    elect: replicaSet.elect,
    machineNow: () => {
      const current = processes.find(({ actor }) => actor === schedule.current());
      return Math.round(schedule.now() + (current?.machine.skew ?? 0));
    },
    freeze(actor: Actor, ms: number): void {
      log(actor.name, () => `is frozen for ${Math.round(ms)} ms`);
      actor.pausedUntil = schedule.now() + ms;
      resumed.set(actor, actor.pausedUntil);
    },
    /** Publishes events at a process. Calls `stored` when it has confirmed them. */
    publish({ actor, webhooks }: Process, drafts: readonly EventDraft[], stored: () => void): void {
      schedule.after(0, actor, () => {
        webhooks.publish(drafts).then(stored, () => undefined);
      });
    },
  };
}
export type Harness = ReturnType<typeof createHarness>;
