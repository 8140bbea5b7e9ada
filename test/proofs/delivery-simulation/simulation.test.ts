import { expect, it } from 'vitest';
import { describeDeliveries } from './deliveries.ts';
import { simulate } from './simulate.ts';

describeDeliveries(60);

it('a schedule of deliveries sends the same messages if it runs again with the same seed', async () => {
  const once = await simulate(7, { trace: true });
  const again = await simulate(7, { trace: true });
  expect(once.trace.length).toBeGreaterThan(0);
  expect(again.trace).toEqual(once.trace);
});
