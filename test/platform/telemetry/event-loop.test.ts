import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { observeEventLoop } from '../../../server/platform/telemetry/event-loop.ts';

it('the delay of the event loop is what a stop of it adds, and begins anew with each reading', async () => {
  const registry = new Registry();
  observeEventLoop(registry);
  const read = async (statistic: string): Promise<number> => {
    const values = await registry.getMetricsAsJSON();
    const found = values.find(({ name }) => name === `nodejs_eventloop_lag_${statistic}_seconds`);
    return Number(found?.values[0]?.value);
  };
  await sleep(150);
  for (const end = performance.now() + 400; performance.now() < end; );
  await sleep(150);
  expect(await read('max')).toBeGreaterThan(0.25);
  expect(await read('max')).toBe(0);
  expect(await read('stddev')).toBe(0);
});
