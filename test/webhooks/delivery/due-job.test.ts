import { describe, expect, it } from 'vitest';
import type { Scheduler } from '../../../server/platform/jobs/scheduler.ts';
import { createDueJobs } from '../../../server/webhooks/delivery/due-job.ts';

const begins = Date.parse('2026-11-21T10:00:00Z');

interface Second {
  clock: { now: number };
  /** What the job does to send what is due. */
  send: () => void;
  /** How many deliveries are due at each look. */
  due: number;
  othersSend?: boolean;
  /** Default: the time of `begins`. */
  key?: string;
  dueTimes: Parameters<typeof createDueJobs>[0]['dueTimes'];
}

/** Runs the job of the second that begins at `begins`. Returns the keys of the jobs that it makes. */
async function runSecond(second: Second): Promise<string[]> {
  const { clock, send, due, othersSend = true, key = new Date(begins).toISOString(), dueTimes } = second;
  const made: string[] = [];
  let run: (key: string) => Promise<void> = async () => undefined;
  const scheduler = {
    define: (_name: string, handler: typeof run) => {
      run = handler;
    },
    at: async (_name: string, _when: Date, key: string) => void made.push(key),
  } as never as Scheduler;
  const dueJobs = createDueJobs({
    scheduler,
    clock: { now: () => clock.now },
    othersSend: async () => othersSend,
    dueTimes,
  });
  async function attemptAllDue(): Promise<number> {
    send();
    return due;
  }
  dueJobs.define(attemptAllDue, new AbortController().signal);
  await run(key);
  return made;
}

it('a due job also sends a delivery that becomes due while the job is looking for due deliveries', async () => {
  const due = begins + 205;
  const taken: number[] = [];
  const clock = { now: begins + 200 };
  await runSecond({
    clock,
    due: 1,
    dueTimes: async (from, before) =>
      taken.length === 0 && due >= from.getTime() && due < before.getTime() ? [new Date(due)] : [],
    send() {
      if (due <= clock.now) taken.push(clock.now);
      clock.now += 60; // the duration of a query
    },
  });
  expect(taken).toEqual([begins + 260]);
});

it('a due job whose key is no time fails, so that its process does not wait for ever', async () => {
  const looks: unknown[] = [];
  const run = runSecond({
    ...{ clock: { now: begins }, due: 0, key: 'nonsense' },
    send: () => looks.push('look'),
    dueTimes: async () => [],
  });
  await expect(run).rejects.toThrow('the key of the job is no time');
  expect(looks).toEqual([]);
});

describe('the job of a second with due deliveries', () => {
  /** Runs the job while so many of its deliveries wait after it has sent, and so many a second later. Returns the keys of its jobs. */
  function jobsMadeWith(waiting: number, secondLater: number, othersSend = true): Promise<string[]> {
    const clock = { now: begins };
    const counts = [waiting, secondLater];
    return runSecond({
      clock,
      due: waiting,
      othersSend,
      dueTimes: async (from, _before, limit) =>
        from.getTime() > begins
          ? []
          : Array.from({ length: Math.min(counts.shift() ?? 0, limit) }, () => new Date(begins)),
      send() {
        clock.now += 1_000; // the duration of a query
      },
    });
  }

  it('makes jobs of the next seconds if two thirds of them still wait a second later, so that other processes join', async () => {
    const times = (await jobsMadeWith(3_000, 2_001)).map((key) => Date.parse(key) - begins);
    // The query ends after a second, and a process takes jobs that begin within a second of its poll.
    expect(Math.min(...times)).toBeGreaterThanOrEqual(3_000);
    expect(Math.max(...times)).toBeLessThanOrEqual(15_000);
    // Which process takes a job depends on the part of the second in which the job begins.
    expect(new Set(times.map((time) => time % 1_000)).size).toBe(10);
  });

  it('makes such jobs if far more wait than it counts', async () => {
    expect(await jobsMadeWith(100_000, 90_000)).toHaveLength(10);
  });

  it('makes no further job if it sends a third of them in a second, because help would come too late', async () => {
    expect(await jobsMadeWith(3_000, 2_000)).toEqual([]);
  });

  it('makes no further job if 499 of them wait', async () => {
    expect(await jobsMadeWith(499, 499)).toEqual([]);
  });

  it('makes no further job if no other process sends', async () => {
    expect(await jobsMadeWith(10_000, 10_000, false)).toEqual([]);
  });

  it('makes no further job if many of other seconds wait, but few of its own', async () => {
    const clock = { now: begins };
    const made = await runSecond({ clock, send: () => undefined, due: 10_000, dueTimes: async () => [] });
    expect(made).toEqual([]);
  });
});
