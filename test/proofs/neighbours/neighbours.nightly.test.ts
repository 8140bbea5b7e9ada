import { expect, it } from 'vitest';
import { within } from '../../harness/time-limits.ts';
import { runNeighbours } from './run.ts';

it(
  'a partner gets all its exchanges beside one that sends the largest inputs, and the service stays ready and small',
  async () => {
    const { alone, beside, ready, memory, attack } = await runNeighbours({
      rounds: 1,
      exchanges: 60,
      everyMs: 150,
    });
    for (const answers of [alone, beside]) {
      expect(answers).toHaveLength(60);
      // The contract allows a 503 within 5 s.
      expect(answers.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
      expect(answers.filter(({ ms }) => ms > within(5_000))).toEqual([]);
    }
    expect(ready).toEqual(new Set([200]));
    expect(memory).toBeLessThan(512);
    const answered = attack.flatMap(({ statuses }) => Object.values(statuses)).reduce((sum, n) => sum + n, 0);
    expect(answered).toBeGreaterThan(50);
  },
  within(120_000),
);
