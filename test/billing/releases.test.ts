import { expect, it, vi } from 'vitest';
import { createReleases } from '../../server/billing/releases.ts';

it('forgets no id, however many wait and however often an update fails', async () => {
  const left: string[] = [];
  let failures = 2;
  const releases = createReleases(async (walletId) => {
    const ids = releases.take(walletId);
    if (failures > 0) {
      failures -= 1;
      releases.add(walletId, ids);
      throw new Error('the database is away');
    }
    left.push(...ids);
  });
  const ids = Array.from({ length: 400 }, (_, n) => `txn_${n}`);
  releases.add('ptr_1:test', ids);
  await expect.poll(() => left.length, { timeout: 10_000 }).toBe(400);
  expect(new Set(left)).toEqual(new Set(ids));
});

it('sends what waits when it is drained', async () => {
  const left: string[] = [];
  const releases = createReleases(async (walletId) => {
    left.push(...releases.take(walletId));
  });
  releases.add(
    'ptr_1:test',
    Array.from({ length: 90 }, (_, n) => `txn_${n}`),
  );
  await releases.drain();
  expect(left).toHaveLength(90);
});

it('waits anew for others once what waited has left with an update', async () => {
  vi.useFakeTimers();
  try {
    const flushed: string[][] = [];
    const releases = createReleases(async (walletId) => {
      flushed.push(releases.take(walletId));
    });
    releases.add('ptr_1:test', ['txn_1']);
    await vi.advanceTimersByTimeAsync(600);
    expect(releases.take('ptr_1:test')).toEqual(['txn_1']);
    releases.add('ptr_1:test', ['txn_2']);
    await vi.advanceTimersByTimeAsync(600);
    releases.add('ptr_1:test', ['txn_3']);
    expect(flushed).toEqual([]);
    await vi.advanceTimersByTimeAsync(100);
    expect(flushed).toEqual([['txn_2', 'txn_3']]);
  } finally {
    vi.useRealTimers();
  }
});
