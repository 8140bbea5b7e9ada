import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGroupCommit } from '../../../server/platform/batching/group-commit.ts';

/** A group commit whose batches end when the test ends them. */
function controlled(maxBatch?: number) {
  const batches: string[][] = [];
  const finish: ((error?: Error) => void)[] = [];
  const call = createGroupCommit<string, string>({
    run: (items) =>
      new Promise((resolve, reject) => {
        batches.push([...items]);
        finish.push((error) => (error ? reject(error) : resolve(items.map((item) => item.toUpperCase()))));
      }),
    ...(maxBatch === undefined ? {} : { maxBatch }),
  });
  return { batches, finish, call };
}

async function turns(count = 4): Promise<void> {
  for (let n = 0; n < count; n += 1) await nextTurn();
}

describe('a group commit', () => {
  it('runs all calls of one turn of the event loop in one batch, and returns each call its own result', async () => {
    const { batches, finish, call } = controlled();
    const answers = Promise.all(['a', 'b', 'a'].map(call));
    await turns();
    expect(batches).toEqual([['a', 'b', 'a']]);
    finish[0]?.();
    expect(await answers).toEqual(['A', 'B', 'A']);
  });

  it('runs one batch at a time; calls during a batch go together into the next one', async () => {
    const { batches, finish, call } = controlled();
    const first = call('a');
    await turns();
    const later = [call('b')];
    await turns();
    later.push(call('c'));
    await turns();
    expect(batches).toEqual([['a']]);
    finish[0]?.();
    await first;
    await turns();
    expect(batches).toEqual([['a'], ['b', 'c']]);
    finish[1]?.();
    expect(await Promise.all(later)).toEqual(['B', 'C']);
  });

  describe('the option flushAfter', () => {
    const forEver = 60_000;
    function collecting(flushAfter: { ms: number; items: number }) {
      const batches: string[][] = [];
      const run = async (items: readonly string[]) => {
        batches.push([...items]);
        return items;
      };
      return { batches, call: createGroupCommit<string, string>({ run, flushAfter }) };
    }

    it('delays a batch by its milliseconds, so that later calls join the batch', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      onTestFinished(() => void vi.useRealTimers());
      const { batches, call } = collecting({ ms: 10, items: 3 });
      const first = call('a');
      await turns();
      vi.advanceTimersByTime(9);
      const second = call('b');
      await turns();
      expect(batches).toEqual([]);
      vi.advanceTimersByTime(1);
      await Promise.all([first, second]);
      expect(batches).toEqual([['a', 'b']]);
    });

    it('sends a batch early when its number of items is reached', async () => {
      const { batches, call } = collecting({ ms: forEver, items: 2 });
      const first = call('a');
      await turns();
      expect(batches).toEqual([]);
      await Promise.all([first, call('b')]);
      await Promise.all(['c', 'd', 'e'].map(call));
      expect(batches).toEqual([
        ['a', 'b'],
        ['c', 'd', 'e'],
      ]);
    });
  });

  it('rejects all callers of a failed batch, and runs the next batch', async () => {
    const { finish, call } = controlled();
    const failing = [call('a'), call('b')];
    const settled = Promise.allSettled(failing);
    await turns();
    const next = call('c');
    finish[0]?.(new Error('broken'));
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await turns();
    finish[1]?.();
    expect(await next).toBe('C');
  });

  it('rejects only the caller whose item has an error', async () => {
    const call = createGroupCommit<number, number>({
      run: async (items) => items.map((item) => (item < 0 ? new Error('negative') : item * 2)),
    });
    const answers = await Promise.allSettled([1, -1, 3].map(call));
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('rejects the callers of a batch that throws or returns too few results, and runs the next batch', async () => {
    let wrong = 0;
    const call = createGroupCommit<number, number>({
      run: (items) => {
        wrong += 1;
        if (wrong === 1) throw new Error('at once');
        return Promise.resolve(wrong === 2 ? [] : items);
      },
    });
    await expect(call(1)).rejects.toThrow('at once');
    await expect(call(2)).rejects.toThrow();
    expect(await call(3)).toBe(3);
  });

  it('splits more than maxBatch items into full batches, which run one after another', async () => {
    const { batches, finish, call } = controlled(3);
    const answers = Promise.all(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(call));
    for (let n = 0; n < 3; n += 1) {
      await turns();
      expect(batches).toHaveLength(n + 1);
      finish[n]?.();
    }
    expect(await answers).toEqual(['A', 'B', 'C', 'D', 'E', 'F', 'G']);
    expect(batches.map(({ length }) => length)).toEqual([3, 3, 1]);
  });

  it('runs a repeated item again, because it caches no result', async () => {
    let runs = 0;
    const call = createGroupCommit<string, number>({
      run: async (items) => {
        runs += 1;
        return items.map(() => runs);
      },
    });
    expect([await call('a'), await call('a')]).toEqual([1, 2]);
  });
});
