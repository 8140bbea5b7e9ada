import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createBatchWindow } from '../../../server/platform/batching/batch-window.ts';

/** A batch window for a batch that the test fills. `isClosed` says whether the window has ended. */
function opened(fixed?: { ms: number; items: number }) {
  let size = 0;
  let closed = false;
  const window = createBatchWindow(() => size, fixed);
  return {
    isClosed: () => closed,
    add(items: number) {
      size += items;
      window.itemAdded();
    },
    begin(items: number) {
      size = items;
      closed = false;
      void window.wait().then(() => {
        closed = true;
      });
    },
  };
}

/** Advances the clock by this many milliseconds, then waits for two turns of the event loop. */
async function pass(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms);
  for (let n = 0; n < 2; n += 1) await nextTurn();
}

/** Sends a batch of `items`, so that the next batch expects as many. */
async function sent(items: number) {
  const batch = opened();
  batch.begin(items);
  await pass(2);
  expect(batch.isClosed()).toBe(true);
  return batch;
}

describe('a batch window, in which a batch accepts items,', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    ['1 item', 1],
    ['2 items', 2],
    ['3 items', 3],
  ])('closes immediately if the batch before had only %s', async (_, items) => {
    const batch = await sent(items);
    batch.begin(1);
    await pass(0);
    expect(batch.isClosed()).toBe(true);
  });

  it('closes as soon as the batch has as many items as the batch before, here four', async () => {
    const batch = await sent(4);
    batch.begin(1);
    batch.add(2);
    await pass(0);
    expect(batch.isClosed()).toBe(false);
    batch.add(1);
    await pass(0);
    expect(batch.isClosed()).toBe(true);
  });

  it('closes after 2 ms if the batch has fewer items than the batch before', async () => {
    const batch = await sent(50);
    batch.begin(1);
    await pass(1);
    expect(batch.isClosed()).toBe(false);
    await pass(1);
    expect(batch.isClosed()).toBe(true);
  });

  it('closes immediately if the batch before got only one item although 50 were expected', async () => {
    const batch = await sent(50);
    batch.begin(1);
    await pass(2);
    batch.begin(1);
    await pass(0);
    expect(batch.isClosed()).toBe(true);
  });

  it('closes at the configured number of items (2), or after the configured time (10 ms)', async () => {
    const batch = opened({ ms: 10, items: 2 });
    for (const _time of ['first', 'second']) {
      batch.begin(1);
      await pass(9);
      expect(batch.isClosed()).toBe(false);
      await pass(1);
      expect(batch.isClosed()).toBe(true);
    }
    batch.begin(1);
    batch.add(1);
    await pass(0);
    expect(batch.isClosed()).toBe(true);
  });
});
