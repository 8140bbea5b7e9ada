import { MongoNetworkError, MongoNetworkTimeoutError, MongoServerError } from 'mongodb';
import type { SimulatedDatabase } from './database.ts';
import type { Random } from './random.ts';
import type { Actor, Schedule } from './schedule.ts';

/** The reliability of the network and the processes. Times are in milliseconds. */
export interface Conditions {
  /** The longest time that a message takes. */
  latency: number;
  /** The share of calls with a fault. */
  faults: number;
  /** The longest delay of a late message. */
  lateness: number;
  /** The fault of 80 % of the faulty calls. */
  mostly?: Fault | undefined;
  /** The share of calls at which the calling process crashes. */
  crashRate: number;
  /** The beginning of a call's name at which crashes are more frequent. */
  crashAt?: string | undefined;
}

/** The configured timeouts of the driver in milliseconds: to find a server, and for an answer. */
const selectWithinMs = 3_000;
const answerWithinMs = 1_900;
const interruptedCode = 11_601;

export const faults = [
  'request lost',
  'reply lost',
  'arrives late',
  'arrives twice',
  'slow request',
  'slow reply',
  'cut short',
  'interrupted',
] as const;
export type Fault = (typeof faults)[number];

interface Operation<T> {
  /** Applies the call at one moment, or only to the first `limit` of its documents. */
  run: (limit: number) => T;
  size?: number;
  /** Whether the reply waits until all changes so far are confirmed, as for a write. */
  write?: boolean;
}

interface Settings {
  schedule: Schedule;
  random: Random;
  conditions: Conditions;
  database: SimulatedDatabase;
  /** Returns false if the caller crashes at this call. */
  survives: (caller: Actor, name: () => string) => boolean;
  log: (actor: string, text: () => string) => void;
}

/**
 * Creates the network, which carries calls to the simulated database. Each message takes time, and may be lost, late or
 * doubled. A caller without an answer gets the error of the driver, and cannot know the result.
 */
export function createNetwork({ schedule, random, conditions, database, survives, log }: Settings) {
  const delay = () => random.between(0.05, conditions.latency);
  const slow = () => random.pick([0.2, 0.9]) * random.between(0.9, 1) * answerWithinMs;
  const late = () => (random.chance(0.5) ? random.between(1, 2_000) : random.between(1, conditions.lateness));

  function drawFault(): Fault | undefined {
    if (!random.chance(conditions.faults)) return undefined;
    return conditions.mostly && random.chance(0.8) ? conditions.mostly : random.pick(faults);
  }

  function send<T>(caller: Actor, name: () => string, { run, size = 1, write = false }: Operation<T>) {
    return new Promise<T>((resolve, reject) => {
      const fault = drawFault();
      const text = () => (fault ? `${name()} (${fault})` : name());
      log(caller.name, () => `→ ${text()}`);
      const { epoch } = database;
      const sentIn = epoch();
      let open = true;

      function end(how: string, settle: () => void): void {
        if (!open) return;
        open = false;
        timer.cancelled = true;
        database.connections.delete(close);
        log(caller.name, () => `← ${text()}: ${how}`);
        settle();
      }
      const closed = () => end('connection closed', () => reject(new MongoNetworkError('connection closed')));
      const close = () => void schedule.after(delay(), caller, closed);
      const timer = schedule.after(answerWithinMs, caller, () =>
        end('no answer', () => reject(new MongoNetworkTimeoutError('no answer'))),
      );
      database.connections.add(close);

      /** Half of the lost calls fail immediately by a closed connection; the others fail at their timeout. */
      const giveUp = () => void (random.chance(0.5) && close());
      const arrive = (after: number, then: () => void, survivesFailover = false) =>
        void schedule.after(after, database.actor, () => {
          const gone = database.isDown() || (!survivesFailover && epoch() !== sentIn);
          log('database', () => `${text()}${gone ? ' never arrives' : ''}`);
          if (!gone) then();
        });
      const reply = (after: number, how: string, settle: () => void) =>
        void schedule.after(after, caller, () => end(how, settle));

      function deliver(after: number): void {
        const value = run(size);
        const answer = () => reply(after, String(value ?? 'done'), () => resolve(value));
        if (write) database.whenConfirmed(answer);
        else answer();
      }

      switch (fault) {
        case undefined:
          return arrive(delay(), () => deliver(delay()));
        case 'request lost':
          return giveUp();
        case 'reply lost':
          return arrive(delay(), () => {
            run(size);
            giveUp();
          });
        case 'arrives late':
          arrive(late(), () => void run(size), true);
          return giveUp();
        case 'arrives twice':
          arrive(delay(), () => deliver(delay()));
          return arrive(late() + conditions.latency, () => void run(size), true);
        case 'slow request':
          return arrive(slow(), () => deliver(delay()));
        case 'slow reply':
          return arrive(delay(), () => deliver(slow()));
        case 'cut short':
          return arrive(delay(), () => {
            run(random.int(0, size));
            giveUp();
          });
        case 'interrupted':
          return arrive(delay(), () => {
            run(random.int(0, size));
            const error = new MongoServerError({
              code: interruptedCode,
              message: 'operation was interrupted',
            });
            reply(delay(), 'interrupted', () => reject(error));
          });
      }
    });
  }

  return {
    call<T>(caller: Actor, name: () => string, operation: Operation<T>): Promise<T> {
      if (!survives(caller, name)) return new Promise(() => undefined);
      if (!database.isDown()) return send(caller, name, operation);
      return new Promise((resolve, reject) => {
        const timer = schedule.after(selectWithinMs, caller, () => {
          log(caller.name, () => `← ${name()}: no server`);
          reject(new MongoNetworkError('no server'));
        });
        database.whenUp(() => {
          if (timer.time <= schedule.now()) return;
          timer.cancelled = true;
          schedule.after(random.between(0, 500), caller, () => {
            send(caller, name, operation).then(resolve, reject);
          });
        });
      });
    },
  };
}
export type Network = ReturnType<typeof createNetwork>;
