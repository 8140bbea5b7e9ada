import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Document } from 'mongodb';
import { expect, it, onTestFinished, vi } from 'vitest';
import { manualClock, startTestServer } from '../harness/server.ts';

type Driver = {
  Connection: { prototype: { command: (ns: { db: string }, command: Document) => Promise<unknown> } };
};
const { Connection } = createRequire(import.meta.url)('mongodb/lib/cmap/connection.js') as Driver;

const minuteMs = 60_000;
const stepMs = 500;

/**
 * The most commands of a process in a minute without requests, by name and collection. Each wakes the process and the database,
 * which takes about 3 ms of processor time. Before you add one, look for a command that can be shared: a `look` of a sweep, or
 * `background.read`.
 */
const mostInMinute: Record<string, number> = {
  // Each second: due jobs and all keys; also the private listeners of others, the schema's version, and the looks of all sweeps.
  'aggregate jobs': 61,
  // Heartbeats: of the process every 10 s, of its private listener every 7.5 s. A minute may begin and end with one.
  'update processes': 7 + 9,
  // The next wallets whose summaries are made again.
  'find ledger': 4,
  // Once a minute: warnings, the hour of the service status, and values under missing master keys.
  'update warningTurns': 1,
  'find warnings': 2,
  'aggregate warnings': 1,
  'find walletSummaries': 3,
  'find partners': 1,
  'aggregate deliveries': 1,
  'find deliveries': 1,
  'aggregate clients': 1,
  'aggregate apiKeys': 3,
  'aggregate integrations': 3,
  'aggregate keys': 1,
  'update serviceHours': 1,
};

it('an idle process sends two commands a second to its database, and none but the known ones', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const sent = vi.spyOn(Connection.prototype, 'command');
  onTestFinished(() => sent.mockRestore());
  // At noon, because the audit of the ledgers begins at night.
  const clock = manualClock(new Date().setUTCHours(12, 0, 0, 0));
  const server = await startTestServer({
    clock,
    replacements: { sweepsByHand: false, pace: { jobsEvery: 1_000 } },
  });
  onTestFinished(server.stop);

  /** Resolves when the process waits for nothing but its timers. */
  async function settle(): Promise<void> {
    for (let known = -1; known !== sent.mock.results.length; ) {
      known = sent.mock.results.length;
      await Promise.allSettled(sent.mock.results.map(({ value }) => value));
      for (let turn = 0; turn < 3; turn += 1) await nextTurn();
    }
  }

  async function pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      clock.advance(stepMs);
      vi.advanceTimersByTime(stepMs);
      await settle();
    }
  }

  await settle();
  // The first round of each kind of work follows the start at once.
  await pass(20_000);
  sent.mockClear();
  await pass(minuteMs);
  const counts: Record<string, number> = {};
  for (const [{ db }, command] of sent.mock.calls) {
    const [name = ''] = Object.keys(command);
    const key = `${name} ${String(command[name])}`;
    if (db === server.db.databaseName) counts[key] = (counts[key] ?? 0) + 1;
  }
  const excess = Object.entries(counts).filter(([key, count]) => count > (mostInMinute[key] ?? 0));
  expect(Object.fromEntries(excess)).toEqual({});
  // The work is done, and only its commands are fewer.
  expect(counts['aggregate jobs']).toBeGreaterThan(50);
  expect(counts['update processes']).toBeGreaterThan(10);
});
