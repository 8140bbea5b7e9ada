import { expect, inject, it } from 'vitest';
import type { Delivery } from '../../../server/webhooks/delivery/delivery.ts';
import { adminOf, createSystem } from '../system.ts';

/** How many deliveries are due at once. */
const lateCount = inject('thorough') ? 10_000 : 500;

/** Pending deliveries of two partners: many due at once a minute ago, and three in one and two hours. */
async function scheduled() {
  const system = await createSystem({ worker: false });
  const now = Math.floor(Date.now() / 60_000) * 60_000;
  const row = (n: number, fields: Partial<Delivery>) => ({
    ...{ _id: `dlv_${n}`, eventId: `evt_${n}`, keyId: 'key_a', partnerId: 'ptr_a', mode: 'live' as const },
    ...{ type: 'vae.resolved', status: 'pending', attempt: 1, trigger: 'event', attempts: [], lane: 'first' },
    ...fields,
  });
  const late = Array.from({ length: lateCount }, (_, n) =>
    row(n, { nextAttemptAt: new Date(now - 60_000 + n) }),
  );
  const hour = 3_600_000;
  const other = {
    keyId: 'key_b',
    partnerId: 'ptr_b',
    mode: 'test' as const,
    attempt: 2,
    trigger: 'schedule' as const,
  };
  await system.db
    .collection<Delivery>('deliveries')
    .insertMany([
      ...late,
      row(lateCount, { ...other, nextAttemptAt: new Date(now + hour) }),
      row(lateCount + 1, { ...other, nextAttemptAt: new Date(now + hour + 30_000) }),
      row(lateCount + 2, { ...other, trigger: 'reschedule', nextAttemptAt: new Date(now + 2 * hour) }),
    ] as Delivery[]);
  return { system, now, hour };
}

it('deliveries schedule counts what is due by minute and partner, also when many are due at once', async () => {
  const { system, now, hour } = await scheduled();
  const { deliveries } = adminOf(system);
  const iso = (ms: number) => new Date(ms).toISOString();
  const none = { keyId: null, mode: null, event: null, why: null, attempt: null, partnerName: null };
  expect(await deliveries.schedule({})).toEqual({
    ...{ total: lateCount + 3, exact: true, late: lateCount, paused: 0 },
    rows: [
      {
        ...{ ...none, dueAt: iso(now - 60_000), partnerId: 'ptr_a', count: lateCount },
        ...{ firstAt: iso(now - 60_000), lastAt: iso(now - 60_000 + lateCount - 1) },
      },
      {
        ...{ ...none, dueAt: iso(now + hour), partnerId: 'ptr_b', count: 2 },
        ...{ firstAt: iso(now + hour), lastAt: iso(now + hour + 30_000) },
      },
      {
        ...{ ...none, dueAt: iso(now + 2 * hour), partnerId: 'ptr_b', count: 1 },
        ...{ firstAt: iso(now + 2 * hour), lastAt: iso(now + 2 * hour) },
      },
    ],
  });

  const causes = await deliveries.schedule({ by: ['why', 'attempt', 'event'], mode: 'test' });
  expect(causes).toMatchObject({ total: 3, late: 0 });
  expect(causes.rows.map(({ why, attempt, event, count }) => [why, attempt, event, count])).toEqual([
    ['schedule', 2, 'vae.resolved', 2],
    ['reschedule', 2, 'vae.resolved', 1],
  ]);
  const limited = await deliveries.schedule({ by: ['minute'], limit: 1 });
  expect([limited.total, limited.rows.length]).toEqual([lateCount + 3, 1]);
  const span = { since: iso(now + hour), until: iso(now + hour + 30_000) };
  expect(await deliveries.schedule({ by: ['key'], ...span })).toMatchObject({
    total: 1,
    rows: [{ keyId: 'key_b', count: 1 }],
  });
  expect(await deliveries.schedule({ event: 'enrollment.created' })).toEqual({
    ...{ total: 0, exact: true, late: 0, paused: 0, rows: [] },
  });
});

it('deliveries schedule counts apart what waits for the end of a pause, though its time is over', async () => {
  const { system, now, hour } = await scheduled();
  const pausedUntil = new Date(now + hour);
  const endpoint = system.endpoints.get(system.key('https://partner.example/'));
  if (endpoint?.state !== 'on') expect.fail('no endpoint');
  system.endpoints.set('key_a', { ...endpoint, pausedUntil });
  const { deliveries } = adminOf(system);
  expect(await deliveries.schedule({})).toMatchObject({
    ...{ total: lateCount + 3, late: lateCount, paused: lateCount },
  });
  expect(await deliveries.schedule({ mode: 'test' })).toMatchObject({ total: 3, late: 0, paused: 0 });
});
