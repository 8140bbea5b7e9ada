import { describe, expect, it } from 'vitest';
import { mostWaiting } from '../../../server/webhooks/operators/schedule/waiting-limits.ts';
import { adminOf, createSystem, draft } from '../system.ts';

const stored = (system: Awaited<ReturnType<typeof createSystem>>) => system.db.collection('deliveries');

/** One delivery of a key that no process sends, and the procedures. */
async function oneDelivery() {
  const system = await createSystem({ worker: false });
  const keyId = system.key('https://partner.example/');
  await system.publish([draft(keyId)]);
  const { deliveries, webhooks } = adminOf(system);
  const [delivery] = await deliveries.list({ keyId });
  return { system, keyId, deliveries, webhooks, id: delivery?.id ?? '' };
}

describe('deliveries.resend', () => {
  it('sends a delivery once that is named several times, and shows it once in a dry run', async () => {
    const { system, deliveries, id } = await oneDelivery();
    const deliveryIds = Array(500).fill(id);
    expect((await deliveries.resend({ deliveryIds, dryRun: true })).deliveries).toHaveLength(1);
    expect((await deliveries.resend({ deliveryIds })).deliveries).toMatchObject([{ resendOf: id }]);
    expect(await stored(system).countDocuments({ resendOf: id })).toBe(1);
  });

  it('makes ten deliveries of a key due in each second, whatever is sent again for other keys', async () => {
    const { system, keyId, deliveries } = await oneDelivery();
    const other = system.key('https://partner.example/');
    await system.publish([...Array.from({ length: 20 }, () => draft(keyId)), draft(other)]);
    const deliveryIds = (await deliveries.list({ limit: 100 })).map(({ id }) => id);
    await deliveries.resend({ deliveryIds });
    const resends = await stored(system)
      .find({ resendOf: { $exists: true } })
      .toArray();
    const secondsOf = (key: string) => {
      const seconds = resends.flatMap(({ keyId: its, nextAttemptAt: due, createdAt: made }) =>
        its === key ? [(due.getTime() - made.getTime()) / 1_000] : [],
      );
      return seconds.toSorted((one, next) => one - next);
    };
    expect(secondsOf(keyId)).toEqual([...Array(10).fill(0), ...Array(10).fill(1), 2]);
    expect(secondsOf(other)).toEqual([0]);
  });

  it('answers 429 and says when to go on if 1,000 resends and samples of a key wait, however many calls arrive together', async () => {
    const { system, keyId, deliveries, webhooks, id } = await oneDelivery();
    const original = await stored(system).findOne({});
    const waiting = Array.from({ length: mostWaiting - 3 }, (_, n) => ({
      ...original,
      ...{ _id: `dlv_${n}`, resendOf: id, trigger: n % 2 === 0 ? 'resend' : 'schedule', lane: 'retry' },
    }));
    await stored(system).insertMany(waiting as never[]);
    const calls = Array.from({ length: 6 }, () => deliveries.resend({ deliveryIds: [id] }));
    const results = await Promise.allSettled(calls);
    expect(results.map(({ status }) => status).toSorted()).toEqual([
      ...Array(3).fill('fulfilled'),
      ...Array(3).fill('rejected'),
    ]);
    const refusal = { code: 'rate_limited', extras: { retryAfter: 1 } };
    await expect(deliveries.resend({ deliveryIds: [id] })).rejects.toMatchObject({
      message: expect.stringMatching(/wait already, of 1000 at most.* try again in 1 s/),
      cause: refusal,
    });
    await expect(webhooks.trigger({ keyId, event: 'vae.resolved' })).rejects.toMatchObject({
      cause: refusal,
    });
    await expect(webhooks.test({ keyId })).rejects.toMatchObject({ cause: refusal });
    // Another key is not concerned.
    const other = system.key('https://partner.example/');
    expect(await webhooks.trigger({ keyId: other, event: 'vae.resolved' })).toMatchObject({ keyId: other });
  });
});
