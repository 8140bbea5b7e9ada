import { expect, it } from 'vitest';
import { createBacklogStore } from '../../../server/operations/metrics/backlog-store.ts';
import { UnreadableSecret } from '../../../server/platform/keys/sealing.ts';
import type { Delivery } from '../../../server/webhooks/delivery/delivery.ts';
import { createReceiver } from '../../harness/receiver.ts';
import { adminOf, createSystem, draft, type System, until } from '../system.ts';

const stored = (system: System) => system.db.collection<Delivery>('deliveries');
const minuteMs = 60_000;

/** A system that cannot open the secret of its endpoints until `repair` is called. Its clock can be advanced. */
async function createHeldSystem(fault: Error = new UnreadableSecret('sealed under another key')) {
  let isRepaired = false;
  let ahead = 0;
  const endpoints: System['endpoints'] = new Map();
  const system = await createSystem({
    endpoints,
    clock: { now: () => Date.now() + ahead },
    async endpoint(keyId) {
      if (!isRepaired) throw fault;
      return endpoints.get(keyId) ?? { state: 'off', reason: 'no_url' };
    },
  });
  const receiver = await createReceiver();
  const keyId = system.key(receiver.url);
  await system.publish([draft(keyId)]);
  const heldBack = () => stored(system).findOne({ status: 'pending', overdue: { $exists: true } });
  const { overdue, createdAt, ...delivery } = await until(heldBack);
  expect(overdue?.since).toEqual(createdAt);
  const backlog = () => createBacklogStore(system.db).read(Date.now() + ahead);
  return {
    ...{ system, receiver, keyId, delivery, createdAt, backlog, heldBack },
    repair: () => {
      isRepaired = true;
    },
    advance: (ms: number) => {
      ahead += ms;
    },
  };
}

it('a delivery whose secret cannot be opened is late from its first due time, with the reason, until it is sent', async () => {
  const { system, receiver, keyId, delivery, createdAt, ...held } = await createHeldSystem();
  held.advance(minuteMs);
  // The process tries again a minute later, and moves the due time again.
  await system.sweep.sweep();
  const { nextAttemptAt } = await until(async () => {
    const found = await held.heldBack();
    return found?.nextAttemptAt && found.nextAttemptAt.getTime() > Date.now() + minuteMs / 2 ? found : null;
  });
  expect(nextAttemptAt).not.toEqual(createdAt);
  const { deliveries, events, webhooks } = adminOf(system);
  const read = await held.backlog();
  expect(read.deliveries).toMatchObject({ late: 1, oldestDueAt: createdAt });
  expect(await system.context.deliveryQueries.queue()).toEqual({ pending: 1, oldestDueAt: createdAt });
  expect(await deliveries.show({ deliveryId: delivery._id })).toMatchObject({ waiting: 'secret_unreadable' });
  expect(await deliveries.list({ status: 'waiting' })).toHaveLength(1);
  const { story } = await events.why({ eventId: delivery.eventId });
  expect(story.at(-1)).toMatch(/has been due for 6\d s and waits: its signing secret cannot be opened/);
  expect(await webhooks.health({ keyId })).toMatchObject([
    { state: 'held', queued: 1, cause: expect.stringContaining('its signing secret cannot be opened') },
  ]);
  held.repair();
  held.advance(2_000);
  await system.sweep.sweep();
  await until(() => receiver.received.length === 1);
  const ended = await until(() => stored(system).findOne({ status: 'delivered' }));
  expect(ended.overdue).toBeUndefined();
  expect((await held.backlog()).deliveries).toMatchObject({ late: 0 });
});

it('the health of an endpoint counts only the held deliveries of that endpoint', async () => {
  const { system, receiver, keyId } = await createHeldSystem();
  await system.publish([draft(system.key(receiver.url))]);
  await until(async () => (await stored(system).countDocuments({ overdue: { $exists: true } })) === 2);
  const { webhooks } = adminOf(system);
  expect(await webhooks.health({ keyId })).toMatchObject([{ state: 'held', queued: 1 }]);
});

it('a delivery whose key cannot be read has that as its reason', async () => {
  const { system, delivery } = await createHeldSystem(new Error('no connection'));
  const { deliveries } = adminOf(system);
  expect(await deliveries.show({ deliveryId: delivery._id })).toMatchObject({
    waiting: 'endpoint_unreadable',
  });
});

it('an attempt of a process that ended is late from its first due time; a new time from an operator starts again', async () => {
  const system = await createSystem({ worker: false });
  await system.publish([draft(system.key('https://partner.example/'))]);
  const dueAt = new Date(Date.now() - minuteMs);
  await stored(system).updateOne({}, [
    {
      $set: {
        status: 'in_flight',
        lease: { token: 'one', until: dueAt },
        attempts: [{ attempt: 1, trigger: 'event', dueAt, at: dueAt }],
        overdue: { since: dueAt, reason: 'secret_unreadable' },
        nextAttemptAt: '$$REMOVE',
      },
    },
  ]);
  await system.sweep.sweep();
  const late = async () => (await createBacklogStore(system.db).read(Date.now())).deliveries.late;
  const recovered = await stored(system).findOne({});
  expect(recovered).toMatchObject({ status: 'pending', trigger: 'recovery' });
  expect(recovered?.overdue).toEqual({ since: dueAt });
  expect(await late()).toBe(1);
  await adminOf(system).deliveries.reschedule({ deliveryId: recovered?._id ?? '', inSeconds: 600 });
  expect((await stored(system).findOne({}))?.overdue).toBeUndefined();
  expect(await late()).toBe(0);
});
