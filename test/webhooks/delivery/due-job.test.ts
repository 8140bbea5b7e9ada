import { describe, expect, it } from 'vitest';
import type { Scheduler } from '../../../server/platform/jobs/scheduler.ts';
import { createDueJobs } from '../../../server/webhooks/delivery/due-job.ts';

it('a due job also sends a delivery that becomes due while the job is looking for due deliveries', async () => {
  const begins = Date.parse('2026-11-21T10:00:00Z');
  const due = begins + 205;
  const taken: number[] = [];
  let now = begins + 200;
  let run: (key: string) => Promise<void> = async () => undefined;
  const define = (_name: string, handler: typeof run) => {
    run = handler;
  };
  const dueJobs = createDueJobs({
    scheduler: { define } as never as Scheduler,
    clock: { now: () => now },
    dueTimes: async (from, before) =>
      taken.length === 0 && due >= from.getTime() && due < before.getTime() ? [new Date(due)] : [],
  });
  dueJobs.define(async () => {
    if (due <= now) taken.push(now);
    now += 60; // the duration of a query
  }, new AbortController().signal);
  await run(new Date(begins).toISOString());
  expect(taken).toEqual([begins + 260]);
});

describe('the job of a second', () => {
  const begins = Date.parse('2026-11-21T10:00:00Z');

  /** Runs the job at its beginning, while so many of its deliveries wait for a slot. Returns the keys of the jobs that it makes. */
  async function jobsMadeWith(waiting: number, dueAt = begins): Promise<string[]> {
    const made: string[] = [];
    let now = begins;
    let run: (key: string) => Promise<void> = async () => undefined;
    const dueJobs = createDueJobs({
      scheduler: {
        define: (_name: string, handler: typeof run) => {
          run = handler;
        },
        at: async (_name: string, _when: Date, key: string) => void made.push(key),
      } as never as Scheduler,
      clock: { now: () => now },
      dueTimes: async (_from, _before, limit) =>
        Array.from({ length: Math.min(waiting, limit) }, () => new Date(dueAt)),
    });
    dueJobs.define(async () => {
      now += 1_000; // the duration of a query
    }, new AbortController().signal);
    await run(new Date(begins).toISOString());
    return made;
  }

  it('makes jobs of the next seconds if 500 of its deliveries still wait, so that other processes join', async () => {
    const times = [...new Set(await jobsMadeWith(10_000))].map((key) => Date.parse(key) - begins);
    // The query ends after a second, and a process takes jobs that begin within a second of its poll.
    expect(Math.min(...times)).toBeGreaterThanOrEqual(3_000);
    expect(Math.max(...times)).toBeLessThanOrEqual(15_000);
    // Which process takes a job depends on the part of the second in which the job begins.
    expect(new Set(times.map((time) => time % 1_000)).size).toBe(10);
  });

  it('makes none for fewer', async () => {
    expect(await jobsMadeWith(499)).toEqual([]);
  });
});
