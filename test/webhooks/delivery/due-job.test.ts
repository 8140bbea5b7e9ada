import { expect, it } from 'vitest';
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
    nextDue: async (after, before) =>
      taken.length === 0 && due > after.getTime() && due < before.getTime() ? new Date(due) : undefined,
  });
  dueJobs.define(async () => {
    if (due <= now) taken.push(now);
    now += 60; // the duration of a query
  }, new AbortController().signal);
  await run(new Date(begins).toISOString());
  expect(taken).toEqual([begins + 260]);
});
