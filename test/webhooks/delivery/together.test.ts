import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createLogger } from '../../../server/platform/telemetry/logging.ts';
import { createAttempt } from '../../../server/webhooks/delivery/attempt.ts';
import type { Leased } from '../../../server/webhooks/delivery/delivery.ts';
import { createDue } from '../../../server/webhooks/delivery/due.ts';
import { until } from '../system.ts';

type Settings = Parameters<typeof createDue>[0];
const logger = createLogger('silent');
const clock = { now: Date.now };

/** The module of due deliveries on a store in memory, with one endpoint. */
function dueOver(deliveries: Partial<Settings['deliveries']>, attempt: Settings['attempt']) {
  return createDue({
    deliveries: {
      dueByKey: async () => ({ count: 1, byKey: new Map([['key', undefined]]) }),
      ...deliveries,
    } as Settings['deliveries'],
    attempt,
    scheduler: { define: () => undefined, at: async () => undefined } as never,
    clock,
    logger,
    limits: { perEndpoint: 4, pool: 100 },
    leaseTime: 20_000,
    worker: true,
    othersSend: async () => false,
  });
}

const leasedOf = (ids: readonly string[]) =>
  ids.map((_id) => ({ _id, keyId: 'key', lane: 'first' }) as Leased);
const now = () => new Date(clock.now());

/** Each journaled write delays token exchanges, so webhooks must make few leases and writes. */
it('deliveries are leased once for all attempts of an endpoint that end in one turn of the event loop', async () => {
  const asked: number[] = [];
  let ended: (() => void) | undefined;
  const together = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const waiting = Array.from({ length: 8 }, (_, n) => `dlv ${n}`);
  const due = dueOver(
    {
      due: async (_keyId, lane) => (lane === 'first' ? [...waiting] : []),
      async lease(ids) {
        asked.push(ids.length);
        waiting.splice(0, ids.length);
        return leasedOf(ids);
      },
    },
    () => together.then(() => ({})),
  );
  await due.retryAt(now());
  await until(() => asked.length === 1);
  await sleep(20);
  expect(asked).toEqual([4]);
  ended?.();
  await until(() => asked.length === 2);
  expect(asked).toEqual([4, 4]);
});

it('an endpoint is leased again if another process has leased all deliveries that were tried', async () => {
  const found = Array.from({ length: 50 }, (_, n) => `dlv ${n}`);
  const sent: string[] = [];
  const due = dueOver(
    {
      due: async (_keyId, lane) => (lane === 'first' ? found : []),
      lease: async (ids) => (ids.includes('dlv 8') ? leasedOf(['dlv 8']) : []),
    },
    async ({ _id }) => {
      sent.push(_id);
      found.splice(0);
      return {};
    },
  );
  await due.retryAt(now());
  await until(() => sent.length === 1);
});

it('a delivery that is known as a first attempt and as a retry is leased once, so that it is not sent twice', async () => {
  const sent: string[] = [];
  let isDue = true;
  const due = dueOver(
    {
      due: async () => (isDue ? ['dlv'] : []),
      async lease() {
        isDue = false;
        return leasedOf(['dlv']);
      },
    },
    async ({ _id }) => {
      sent.push(_id);
      return {};
    },
  );
  await due.retryAt(now());
  await until(() => sent.length > 0);
  await due.stop();
  expect(sent).toEqual(['dlv']);
});

it('the results of attempts that end during a write are stored by one further write', async () => {
  const written: number[] = [];
  let endWrite: () => void = () => undefined;
  const attempt = createAttempt({
    deliveries: {
      skip: async () => undefined,
      release: async () => undefined,
      async record(finishedAttempts) {
        written.push(finishedAttempts.length);
        if (written.length > 1) return;
        await new Promise<void>((resolve) => {
          endWrite = resolve;
        });
      },
    },
    endpoint: async () => ({
      state: 'on',
      url: 'https://a.example/',
      secret: 'whsec_',
      secretVersion: 1,
      mode: 'test',
    }),
    post: async () => ({ status: 204, durationMs: 1 }),
    clock,
    logger,
    retryDelays: [],
    localhostAllowed: false,
    userAgent: 'test',
  });
  const leased = {
    attempt: 1,
    limit: 3,
    body: '{}',
    attempts: [{ attempt: 1, trigger: 'event', dueAt: now(), at: now() }],
    lease: { token: 'one', until: new Date(clock.now() + 20_000) },
  } as unknown as Leased;
  const first = attempt(leased);
  await until(() => written.length === 1);
  const others = [attempt(leased), attempt(leased), attempt(leased)];
  await sleep(20);
  endWrite();
  await Promise.all([first, ...others]);
  expect(written).toEqual([1, 3]);
});
