import type { FastifyInstance } from 'fastify';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { Clock } from '../../platform/clock.ts';
import { failureOf, routeOf } from '../../platform/http/answer-log.ts';
import { hour, minute, windowStart } from '../../platform/http/limits/windows.ts';
import type { Addition, Counts, ServiceHourStore } from './service-hour-store.ts';

interface Dependencies {
  store: Pick<ServiceHourStore, 'add'>;
  clock: Pick<Clock, 'now'>;
  /** Whether this process serves the API. A minute counts as available if at least one such process was ready in it. */
  servesApi: boolean;
}

/** The most hours whose counts wait while the database is unavailable. Older hours are dropped. */
const mostWaitingHours = 48;

/** Only requests of partners and their users count, not health checks, documentation or the pages of operators. */
const isCounted = (route: string): boolean => /^\/(?:api|verify)\//.test(route);

/** Counts requests and webhooks of this process, and adds the counts to the record of the hour. */
export function createRecorder({ store, clock, servesApi }: Dependencies) {
  /** Counts that are not written yet, by the beginning of the hour. */
  const waiting = new Map<number, Addition>();
  let markedMinute = 0;

  /** Returns the waiting counts of the hour that contains a time, which begin at 0. Drops the oldest of too many hours. */
  function additionOf(at: number): Addition {
    const hourStart = windowStart(at, hour);
    const found = waiting.get(hourStart);
    if (found) return found;
    const fresh = { early: 0, late: 0, requests: 0, errors: 0, webhooks: 0, webhooksTaken: 0 };
    waiting.set(hourStart, fresh);
    const [oldest] = waiting.keys();
    if (waiting.size > mostWaitingHours && oldest !== undefined) waiting.delete(oldest);
    return fresh;
  }

  /** Adds counts to those of an hour, by default to those of the current hour. */
  function addCounts(counts: Partial<Counts>, addition = additionOf(clock.now())): void {
    for (const [name, by] of Object.entries(counts) as [keyof Counts, number][]) addition[name] += by;
  }

  /** Sets the bit of the current minute. `early` has the bits of the first half of an hour, `late` those of the second half. */
  function markMinuteAvailable(): void {
    const now = clock.now();
    const current = windowStart(now, minute);
    if (current === markedMinute) return;
    const minuteOfHour = (current - windowStart(now, hour)) / minute;
    const addition = additionOf(now);
    if (minuteOfHour < 30) addition.early |= 1 << minuteOfHour;
    else addition.late |= 1 << (minuteOfHour - 30);
    markedMinute = current;
  }

  /** Writes the counts. @throws the error of the database; the counts are then written with the next call */
  async function flush(): Promise<void> {
    // A copy is iterated, because counts that arrive during a write would otherwise be written in this call too, without an end.
    for (const [at, addition] of [...waiting]) {
      // Removed before the write, so that counts that arrive during it are not lost: they are written next time.
      waiting.delete(at);
      try {
        await store.add(at, addition);
      } catch (error) {
        putBack(at, addition);
        throw error;
      }
    }
  }

  /** Makes counts wait again that could not be written. Others of the same hour may have arrived during the write. */
  function putBack(at: number, { early, late, ...counts }: Addition): void {
    const present = additionOf(at);
    present.early |= early;
    present.late |= late;
    addCounts(counts, present);
  }

  return {
    flush,

    /** Marks the current minute if this process can serve (`isReady`), and writes the counts. Call this every few seconds. */
    async record(isReady: boolean): Promise<void> {
      if (isReady && servesApi) markMinuteAvailable();
      await flush();
    },

    /** Counts the responses of the public listener. Call this before its routes are registered. */
    observe(app: FastifyInstance): void {
      app.addHook('onResponse', (request, reply, done) => {
        // A caller in test mode can ask for a 5xx as a rehearsal. That is no fault of the service.
        const isRehearsed = failureOf(request)?.extras.rehearsed;
        const isFault = reply.statusCode >= 500 && !isRehearsed;
        if (isCounted(routeOf(request))) addCounts({ requests: 1, errors: isFault ? 1 : 0 });
        done();
      });
    },

    /** Counts an attempt to send a live webhook. @param outcome `delivered`, or the class of the error */
    countAttempt(outcome: string, mode: Mode): void {
      if (mode === 'live') addCounts({ webhooks: 1, webhooksTaken: outcome === 'delivered' ? 1 : 0 });
    },
  };
}
