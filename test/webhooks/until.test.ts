import { expect, it } from 'vitest';
import { until } from './system.ts';

it('the test helper until returns the first truthy value of its condition, and names the condition at a timeout', async () => {
  let asked = 0;
  expect(await until(() => (asked++ > 1 ? 'here' : undefined))).toBe('here');
  const never = until(() => asked < 0, 50);
  await expect(never).rejects.toThrow('not within 50 ms: () => asked < 0 is still false');
});
