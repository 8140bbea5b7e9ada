import { MongoNetworkError, MongoNetworkTimeoutError } from 'mongodb';
import type { Random } from './random.ts';
import { type Actor, createActor, type Schedule } from './schedule.ts';

/** What the way to the database and back is like; times in milliseconds. */
export interface Weather {
  /** A message takes up to this long. */
  latency: number;
  /** Share of the calls that something happens to. */
  faults: number;
  /** A message that was given up arrives up to this much later. */
  lateness: number;
  /** What happens most, and to half of the calls whose names begin so. */
  mostly?: Fate;
  mostlyTo?: string;
  /** Share of the calls at which the calling process dies. */
  crashRate: number;
  /** A call at which it dies mostly, by how its name begins. */
  fatalStep?: string;
  /** How surely. */
  fatality: number;
}

/** As the driver is configured: after this, a call without an answer has failed. */
const answerWithin = 1_900;

const fates = [
  'request lost',
  'reply lost',
  'arrives late',
  'arrives twice',
  'slow request',
  'slow reply',
  'cut short',
] as const;
type Fate = (typeof fates)[number];

/**
 * Carries calls to the simulated database: each message takes its time, and may be lost, late or doubled.
 * A caller that hears nothing is told so as the driver would tell it, and cannot know what has landed.
 */
export function createNetwork(settings: {
  schedule: Schedule;
  random: Random;
  weather: Weather;
  /** Whose calls nothing happens to. */
  spared: Actor;
  /** Whether a call goes out at all: its caller may die just before. */
  survives: (caller: Actor, what: () => string) => boolean;
  log: (actor: string, text: () => string) => void;
}) {
  const { schedule, random, weather, spared, survives, log } = settings;
  const database = createActor('database', { passive: true });
  const delay = () => random.between(0.05, weather.latency);
  const lateDelay = () =>
    random.chance(0.5) ? random.between(1, 2_000) : random.between(1, weather.lateness);
  const slowly = () => random.pick([0.2, 0.9]) * random.between(0.9, 1) * answerWithin;

  function drawFate(what: () => string): Fate | undefined {
    const chosen = weather.mostlyTo !== undefined && what().startsWith(weather.mostlyTo);
    if (weather.mostly && chosen && random.chance(0.5)) return weather.mostly;
    if (!random.chance(weather.faults)) return undefined;
    return weather.mostly && random.chance(0.8) ? weather.mostly : random.pick(fates);
  }

  /** Half of the calls without an answer are noticed at once, by a closed connection; the others by the clock. */
  function giveUp({ answer, reject }: Message): void {
    if (random.chance(0.5)) answer(delay(), 'lost', () => reject(new MongoNetworkError('connection closed')));
    else answer(answerWithin, 'given up', () => reject(new MongoNetworkTimeoutError('no answer')));
  }

  const pass = ({ arrive, deliver }: Message) => arrive(delay(), () => deliver(delay()));

  /** What becomes of a message. */
  const meet: Record<Fate, (message: Message) => void> = {
    'request lost': giveUp,
    'reply lost': (message) =>
      message.arrive(delay(), () => {
        message.land();
        giveUp(message);
      }),
    'arrives late'(message) {
      message.arrive(lateDelay(), message.land);
      giveUp(message);
    },
    'arrives twice'(message) {
      message.arrive(lateDelay(), message.land);
      pass(message);
    },
    'slow request': ({ arrive, deliver }) => arrive(slowly(), () => deliver(delay())),
    'slow reply': ({ arrive, deliver }) => arrive(delay(), () => deliver(slowly())),
    'cut short': (message) =>
      message.arrive(delay(), () => {
        message.landPartly();
        giveUp(message);
      }),
  };

  return {
    /**
     * Sends a call. `run` carries out all of it, or only the first `limit` of its `size` single writes, at
     * one moment; what it returns or throws is the reply.
     */
    call<T>(caller: Actor, what: () => string, { run, size = 1 }: Operation<T>): Promise<T> {
      if (!survives(caller, what)) return new Promise(() => undefined);
      const fate = caller === spared ? undefined : drawFate(what);
      const name = () => (fate ? `${what()} (${fate})` : what());
      log(caller.name, () => `→ ${name()}`);

      return new Promise((resolve, reject) => {
        function answer(after: number, text: string, reply: () => void): void {
          schedule.after(after, caller, () => {
            log(caller.name, () => `← ${name()}: ${text}`);
            reply();
          });
        }
        function unheard(limit: number): void {
          try {
            run(limit);
          } catch {
            // Nobody hears of the refusal.
          }
        }
        const message: Message = {
          arrive: (after, then) =>
            void schedule.after(after, database, () => {
              log('database', name);
              then();
            }),
          land: () => unheard(size),
          landPartly: () => unheard(random.int(0, size)),
          deliver(after) {
            try {
              const value = run(size);
              answer(after, 'done', () => resolve(value));
            } catch (error) {
              answer(after, 'refused', () => reject(error));
            }
          },
          answer,
          reject,
        };
        if (fate) meet[fate](message);
        else pass(message);
      });
    },
  };
}
export type Network = ReturnType<typeof createNetwork>;

interface Operation<T> {
  run: (limit: number) => T;
  size?: number;
}

/** One call on its way. */
interface Message {
  /** Brings it to the database. */
  arrive: (after: number, then: () => void) => void;
  /** Carries it out, and nobody hears of it. */
  land: () => void;
  /** As far as it came. */
  landPartly: () => void;
  /** Carries it out and answers. */
  deliver: (after: number) => void;
  answer: (after: number, text: string, reply: () => void) => void;
  reject: (error: Error) => void;
}
