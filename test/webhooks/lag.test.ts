import { expect, it } from 'vitest';
import { createReceiver } from '../harness/receiver.ts';
import { createSystem, draft } from './system.ts';

it('the time from due to start is reported for every webhook attempt, as a first attempt or as a retry', async () => {
  const late = 100_000;
  const past = await createSystem({ worker: false, clock: { now: () => Date.now() - late } });
  const receiver = await createReceiver((count, _request, response) =>
    response.writeHead(count === 1 ? 500 : 204).end(),
  );
  const sent: { lane: string; lag: number }[] = [];
  const system = await createSystem({
    ...{ db: past.db, retryDelays: [0, 0] },
    sending: (attempt) => sent.push(attempt),
  });
  const keyId = system.key(receiver.url);
  await past.publish([draft(keyId)]);
  await system.sweep.sweep();
  await expect.poll(() => sent.length).toBe(2);
  const [first, retry] = sent;
  expect(first).toMatchObject({ lane: 'first' });
  // In seconds, and at most the time that this test has added.
  expect(first?.lag).toBeGreaterThanOrEqual(late / 1000);
  expect(first?.lag).toBeLessThan(late / 1000 + 20);
  expect(retry).toMatchObject({ lane: 'retry' });
  expect(retry?.lag).toBeLessThan(late / 1000);
});
