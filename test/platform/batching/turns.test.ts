import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createTurns } from '../../../server/platform/batching/turns.ts';

it('one part of all long work goes on in each turn of the event loop, in the order in which they asked', async () => {
  const turn = createTurns();
  const parts: string[] = [];
  const work = async (name: string) => {
    for (let part = 1; part <= 2; part += 1) {
      await turn();
      parts.push(`${name}${part}`);
    }
  };
  const all = Promise.all([work('a'), work('b'), work('c')]);
  const counts: number[] = [];
  for (let n = 0; n < 6; n += 1) {
    await nextTurn();
    counts.push(parts.length);
  }
  await all;
  expect(parts).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2']);
  for (const [n, count] of counts.entries()) expect(count - (counts[n - 1] ?? 0)).toBeLessThanOrEqual(1);
});
