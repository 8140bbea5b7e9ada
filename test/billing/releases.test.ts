import { expect, it } from 'vitest';
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
