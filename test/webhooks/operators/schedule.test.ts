import { expect, it } from 'vitest';
import type { Delivery } from '../../../server/webhooks/delivery/delivery.ts';
import { adminOf, createSystem } from '../system.ts';

/** Pending deliveries of two partners: 10,000 due at once a minute ago, and three in one and two hours. */
async function scheduled() {
  const system = await createSystem({ worker: false });
  const now = Math.floor(Date.now() / 60_000) * 60_000;
  const row = (n: number, fields: Partial<Delivery>) => ({
    ...{ _id: `dlv_${n}`, eventId: `evt_${n}`, keyId: 'key_a', partnerId: 'ptr_a', mode: 'live' as const },
    ...{ type: 'vae.resolved', status: 'pending', attempt: 1, trigger: 'event', attempts: [], lane: 'first' },
    ...fields,
  });
  const late = Array.from({ length: 10_000 }, (_, n) =>
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
      row(10_000, { ...other, nextAttemptAt: new Date(now + hour) }),
      row(10_001, { ...other, nextAttemptAt: new Date(now + hour + 30_000) }),
      row(10_002, { ...other, trigger: 'reschedule', nextAttemptAt: new Date(now + 2 * hour) }),
    ] as Delivery[]);
  return { system, now, hour };
}

it('deliveries schedule counts what is due by minute and partner, also 10,000 at once', async () => {
  const { system, now, hour } = await scheduled();
  const { deliveries } = adminOf(system);
  const iso = (ms: number) => new Date(ms).toISOString();
  const none = { keyId: null, mode: null, event: null, why: null, attempt: null, partnerName: null };
  expect(await deliveries.schedule({})).toEqual({
    ...{ total: 10_003, exact: true, late: 10_000 },
    rows: [
      {
        ...{ ...none, dueAt: iso(now - 60_000), partnerId: 'ptr_a', count: 10_000 },
        ...{ firstAt: iso(now - 60_000), lastAt: iso(now - 60_000 + 9_999) },
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
  expect([limited.total, limited.rows.length]).toEqual([10_003, 1]);
  const span = { since: iso(now + hour), until: iso(now + hour + 30_000) };
  expect(await deliveries.schedule({ by: ['key'], ...span })).toMatchObject({
    total: 1,
    rows: [{ keyId: 'key_b', count: 1 }],
  });
  expect(await deliveries.schedule({ event: 'enrollment.created' })).toEqual({
    ...{ total: 0, exact: true, late: 0, rows: [] },
  });
});
