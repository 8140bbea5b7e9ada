import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createLogger } from '../../../server/platform/telemetry/logging.ts';
import type { Leased } from '../../../server/webhooks/delivery/delivery.ts';
import type { FinishedAttempt } from '../../../server/webhooks/delivery/delivery-store.ts';
import { createDispatcher } from '../../../server/webhooks/delivery/dispatcher.ts';
import { createLeasing } from '../../../server/webhooks/delivery/leasing.ts';
import { until } from '../system.ts';

/** Each journaled write delays token exchanges, so webhooks must make few leases and writes. */
it('the dispatcher leases deliveries once for all attempts of an endpoint that end in one turn of the event loop', async () => {
  const asked: number[] = [];
  let ended: (() => void) | undefined;
  const together = new Promise<void>((resolve) => {
    ended = resolve;
  });
  let left = 8;
  const { notify } = createDispatcher({
    limits: { perEndpoint: 4, pool: 100 },
    logger: createLogger('silent'),
    async lease({ keyId, slots }) {
      asked.push(slots);
      const count = Math.min(slots, left);
      left -= count;
      const leased = Array.from({ length: count }, () => ({ _id: 'dlv', keyId, lane: 'first' }) as Leased);
      return { leased, tried: count, more: left > 0 };
    },
    sendAttempt: () => together,
  });
  notify(['key']);
  await sleep(20);
  expect(asked).toEqual([4]);
  ended?.();
  await sleep(20);
  expect(asked.slice(0, 2)).toEqual([4, 4]);
});

it('the dispatcher goes on with an endpoint if another process has leased all deliveries that it tried', async () => {
  const results = [
    { leased: [], tried: 4, more: true },
    { leased: [], tried: 3, more: true },
    { leased: [{ _id: 'dlv', keyId: 'key', lane: 'first' } as Leased], tried: 1, more: false },
  ];
  const sent: string[] = [];
  const { notify } = createDispatcher({
    limits: { perEndpoint: 4, pool: 100 },
    logger: createLogger('silent'),
    lease: async () => results.shift() ?? { leased: [], tried: 0, more: false },
    async sendAttempt({ _id }) {
      sent.push(_id);
    },
  });
  notify(['key']);
  await until(() => sent.length === 1);
});

it('a delivery that is known as a first attempt and as a retry is leased once, so that it is not sent twice', async () => {
  const delivery = { _id: 'dlv', keyId: 'key', lane: 'retry' } as Leased;
  const leasing = createLeasing({
    deliveries: { due: async () => ['dlv'], lease: async () => [delivery], record: async () => undefined },
    clock: { now: Date.now },
    leaseTime: 20_000,
  });
  leasing.invalidate('key');
  const { leased } = await leasing.lease({ keyId: 'key', slots: 5, retries: 4, prefer: 'retry' });
  expect(leased).toEqual([delivery]);
});

it('the results of attempts that end during a write are stored by one further write', async () => {
  const written: number[] = [];
  let endWrite: () => void = () => undefined;
  const { record } = createLeasing({
    deliveries: {
      due: async () => [],
      lease: async () => [],
      async record(finishedAttempts) {
        written.push(finishedAttempts.length);
        if (written.length === 1)
          await new Promise<void>((resolve) => {
            endWrite = resolve;
          });
      },
    },
    clock: { now: Date.now },
    leaseTime: 20_000,
  });
  const finished = {} as FinishedAttempt;
  const first = record(finished);
  await until(() => written.length === 1);
  const others = [record(finished), record(finished), record(finished)];
  endWrite();
  await Promise.all([first, ...others]);
  expect(written).toEqual([1, 3]);
});
