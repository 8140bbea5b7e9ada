import type { SimulatedDatabase } from '../simulation/database.ts';
import type { Random } from '../simulation/random.ts';
import { createActor, type Schedule } from '../simulation/schedule.ts';

interface Settings {
  schedule: Schedule;
  random: Random;
  /** The longest time in milliseconds until a write is on a majority of the members. 0: immediately. */
  confirmation: number;
  log: (actor: string, text: () => string) => void;
}

/** What the network needs of a database. */
type Server = Pick<
  SimulatedDatabase,
  'actor' | 'connections' | 'epoch' | 'isDown' | 'whenConfirmed' | 'whenUp'
>;

/**
 * The simulated database: documents in memory. A change is confirmed a little later than it is made. The election of another
 * member keeps what is confirmed, and rolls back some of the newest other changes: their writers get no answer.
 */
export function createReplicaSet({ schedule, random, confirmation, log }: Settings) {
  const actor = createActor('database', { passive: true });
  const connections = new Set<() => void>();
  const undos: (() => void)[] = [];
  let confirmed = 0;
  let waiters: { position: number; then: () => void }[] = [];
  let onUp: (() => void)[] = [];
  let epoch = 0;
  let down = false;

  function confirm(position: number): void {
    confirmed = Math.max(confirmed, position);
    const ready = waiters.filter((waiter) => waiter.position <= confirmed);
    waiters = waiters.filter((waiter) => waiter.position > confirmed);
    for (const { then } of ready) then();
  }

  function note(undo: () => void): void {
    undos.push(undo);
    const [position, of] = [undos.length, epoch];
    if (confirmation === 0) confirm(position);
    else
      schedule.after(random.between(0.05, confirmation), actor, () => {
        if (of === epoch) confirm(position);
      });
  }

  /** A collection. Each document is replaced as a whole. */
  class Documents<D> extends Map<string, D> {
    override set(id: string, document: D): this {
      const before = this.get(id);
      note(() => {
        if (before === undefined) this.delete(id);
        else super.set(id, before);
      });
      return super.set(id, document);
    }
  }

  const server: Server = {
    actor,
    connections,
    epoch: () => epoch,
    isDown: () => down,
    whenUp: (then) => void onUp.push(then),
    whenConfirmed(then) {
      if (undos.length <= confirmed) then();
      else waiters.push({ position: undos.length, then });
    },
  };

  return {
    // The network uses no other part of a database.
    server: server as SimulatedDatabase,
    collection: <D>(): Map<string, D> => new Documents<D>(),

    /** Elects another member, which takes this many milliseconds. */
    elect(ms: number): void {
      if (down) return;
      const kept = random.int(confirmed, undos.length);
      log(actor.name, () => `fails; keeps ${kept} of ${undos.length} changes, ${confirmed} confirmed`);
      epoch += 1;
      down = true;
      for (const undo of undos.splice(kept).reverse()) undo();
      waiters = [];
      for (const close of [...connections]) close();
      connections.clear();
      schedule.after(ms, actor, () => {
        down = false;
        confirm(undos.length);
        const calls = onUp;
        onUp = [];
        for (const call of calls) call();
      });
    },
  };
}
