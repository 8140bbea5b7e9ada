import { MongoServerError } from 'mongodb';
import { expect, it } from 'vitest';
import { createWriteProbe } from '../../../server/platform/database/write-probe.ts';

/** A probe of a database that accepts writes until a test makes it refuse them. */
function probed() {
  const state = { writes: 0, now: 0, refuses: false };
  const write = async () => {
    state.writes += 1;
    if (state.refuses) throw new MongoServerError({ code: 14_031, message: 'No space left on device' });
  };
  const tryWrite = createWriteProbe(write, { successLastsMs: 5_000, uptime: () => state.now });
  return { state, tryWrite };
}

it('a write probe writes once for all readiness checks within 5 s', async () => {
  const { state, tryWrite } = probed();
  expect(await Promise.all(Array.from({ length: 20 }, tryWrite))).toEqual(Array(20).fill(undefined));
  state.now = 4_999;
  await tryWrite();
  expect(state.writes).toBe(1);
  state.now = 5_000;
  await tryWrite();
  expect(state.writes).toBe(2);
});

it('a write probe returns name and code of a refused write for a second, and then writes again', async () => {
  const { state, tryWrite } = probed();
  state.refuses = true;
  expect(await tryWrite()).toBe('OutOfDiskSpace (14031)');
  state.refuses = false;
  state.now = 999;
  expect(await tryWrite()).toBe('OutOfDiskSpace (14031)');
  expect(state.writes).toBe(1);
  state.now = 1_000;
  expect(await tryWrite()).toBeUndefined();
  expect(state.writes).toBe(2);
});
