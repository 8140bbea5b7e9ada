import { setTimeout as sleep } from 'node:timers/promises';
import { answerCalls } from '../../remote.ts';
import { makeEvent, type QueuedEvent } from './events.ts';

/** The receivers: the first half of the endpoints has this http origin, the other half this https one. */
export interface Origins {
  http: string;
  https: string;
}

/** How a queue is started. */
export interface QueueSettings {
  /** The address of its database. */
  uri: string;
  origins: Origins;
  /** The number of endpoints. */
  endpoints: number;
  /** The secrets of our server, which all its processes share. */
  secrets: { masterKey: string; adminToken: string };
  /** Whether this process stores events too. Others only send. */
  isFirst: boolean;
}

/** Events for these endpoints in turn: by callers as fast as they are stored, evenly, or due together later. */
export interface Order {
  endpoints: readonly number[];
  events: number;
  callers?: number;
  perSecond?: number;
  /** Milliseconds from now until all are due. */
  ahead?: number;
}

/** A queue that also sends. */
export interface Queue {
  start(settings: QueueSettings): Promise<void>;
  /** Stores events, in the first process. Resolves when the database has confirmed them. @param dueAt default: immediately */
  add(events: readonly QueuedEvent[], dueAt?: Date): Promise<void>;
}

async function addByCallers(queue: Queue, order: Order, callers: number): Promise<void> {
  let next = 0;
  async function call(): Promise<void> {
    while (next < order.events) await queue.add([eventOf(order, next++)]);
  }
  await Promise.all(Array.from({ length: callers }, call));
}

async function addEvenly(queue: Queue, order: Order, perSecond: number): Promise<void> {
  const begin = performance.now();
  const added: Promise<void>[] = [];
  for (let n = 0; n < order.events; n += 1) {
    await sleep(Math.max(0, begin + (n * 1000) / perSecond - performance.now()));
    added.push(queue.add([eventOf(order, n)]));
  }
  await Promise.all(added);
}

const eventOf = ({ endpoints }: Order, n: number, at = new Date()): QueuedEvent =>
  makeEvent(endpoints[n % endpoints.length] ?? 0, at);

/** The program of a queue. It answers each order with the time from which its events are sent. */
export const serveQueue = (queue: Queue): void =>
  answerCalls({
    start: (settings: QueueSettings) => queue.start(settings),

    async send(order: Order): Promise<number> {
      const { events, callers, perSecond, ahead } = order;
      const begin = Date.now();
      if (callers !== undefined) await addByCallers(queue, order, callers);
      else if (perSecond !== undefined) await addEvenly(queue, order, perSecond);
      if (ahead === undefined) return begin;
      const dueAt = new Date(begin + ahead);
      await queue.add(
        Array.from({ length: events }, (_, n) => eventOf(order, n, dueAt)),
        dueAt,
      );
      return Math.max(dueAt.getTime(), Date.now());
    },
  });
