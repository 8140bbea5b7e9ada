import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../server/webhooks/delivery/delivery.ts';
import { contractSignature } from '../../../server/webhooks/egress/signature.ts';
import type { Parts } from '../../../server/webhooks/webhooks.ts';
import { createReceiver } from '../../harness/receiver.ts';
import { manualClock } from '../../harness/server.ts';
import { createSystem, draft, type System, until } from '../system.ts';

const stored = (system: System) => system.db.collection<Delivery>('deliveries');
const countOf = async (system: System, status: Delivery['status'], count: number) =>
  until(async () => (await stored(system).countDocuments({ status })) === count);

/** A system whose calls of the store are noted in their order, and whose inserts of leased deliveries may be replaced. */
async function watched(
  replace: (insert: Parts['deliveries']['insertLeased']) => Parts['deliveries']['insertLeased'] = (same) =>
    same,
  settings: Parameters<typeof createSystem>[0] = {},
) {
  const calls: string[] = [];
  const system = await createSystem({
    ...settings,
    wrap: ({ deliveries, events, post }) => ({
      events,
      deliveries: Object.fromEntries(
        Object.entries({ ...deliveries, insertLeased: replace(deliveries.insertLeased) }).map(
          ([name, call]) => [
            name,
            (...given: never[]) => {
              const isEmpty = Array.isArray(given[0]) && (given[0] as unknown[]).length === 0;
              if (!isEmpty) calls.push(name);
              return (call as (...args: never[]) => unknown)(...given);
            },
          ],
        ),
      ) as never,
      post: (request) => {
        calls.push('post');
        return post(request);
      },
    }),
  });
  return { system, calls };
}

describe('a first attempt', () => {
  it('is stored under its lease, sent from memory and recorded: no query and no lease of its own', async () => {
    const receiver = await createReceiver();
    const { system, calls } = await watched();
    await system.publish([draft(system.key(receiver.url))]);
    await countOf(system, 'delivered', 1);
    expect(calls).toEqual(['insertLeased', 'post', 'record']);
  });

  it('waits as pending if five attempts of the endpoint are in flight, and follows them', async () => {
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const receiver = await createReceiver(
      (_count, _request, response) => void opened.then(() => response.writeHead(204).end()),
    );
    const system = await createSystem();
    const keyId = system.key(receiver.url);
    await system.publish(Array.from({ length: 7 }, () => draft(keyId)));
    const statuses = (await stored(system).find().toArray()).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([...Array(5).fill('in_flight'), ...Array(2).fill('pending')]);
    open();
    await countOf(system, 'delivered', 7);
    expect(receiver.received).toHaveLength(7);
  });

  it('is sent once if its event is twice in a call, and in calls at the same time', async () => {
    const receiver = await createReceiver();
    const system = await createSystem();
    const one = draft(system.key(receiver.url));
    await Promise.all([system.publish([one, one]), system.publish([one]), system.publish([one])]);
    await countOf(system, 'delivered', 1);
    await system.stop();
    expect(receiver.received).toHaveLength(1);
  });

  it('is sent by the recovery after its lease, if the reply to its insert was lost', async () => {
    const receiver = await createReceiver();
    const clock = manualClock();
    let calls = 0;
    const { system } = await watched(
      (insert) =>
        async (...given) => {
          const ours = await insert(...given);
          calls += 1;
          if (calls === 1) throw new Error('the reply was lost');
          return ours;
        },
      { clock },
    );
    const one = draft(system.key(receiver.url));
    await expect(system.publish([one])).rejects.toThrow('the reply was lost');
    await system.publish([one]);
    await system.sweep.sweep();
    expect(receiver.received).toHaveLength(0);
    clock.advance(20_001);
    await system.sweep.sweep();
    await countOf(system, 'delivered', 1);
    expect(receiver.received).toHaveLength(1);
    expect((await stored(system).findOne())?.attempts).toMatchObject([
      { attempt: 1, error: 'interrupted' },
      { attempt: 1, trigger: 'recovery', status: 204 },
    ]);
  });

  it('has the secret of its moment, if the secret was rotated during its insert', async () => {
    const receiver = await createReceiver();
    const { system } = await watched((insert) => async (...given) => {
      const ours = await insert(...given);
      for (const endpoint of system.endpoints.values())
        if (endpoint.state === 'on') Object.assign(endpoint, { secret: 'whsec_bmV3', secretVersion: 2 });
      return ours;
    });
    await system.publish([draft(system.key(receiver.url))]);
    await countOf(system, 'delivered', 1);
    const [request] = receiver.received;
    expect(request?.headers['x-svc-signature']).toBe(contractSignature(request?.body ?? '', 'whsec_bmV3'));
  });

  it('is given back if a quarter of its lease is over before its POST, as another process could send it too', async () => {
    const receiver = await createReceiver();
    const clock = manualClock();
    const { system, calls } = await watched(
      (insert) =>
        async (...given) => {
          const ours = await insert(...given);
          clock.advance(5_001);
          return ours;
        },
      { clock },
    );
    await system.publish([draft(system.key(receiver.url))]);
    await countOf(system, 'pending', 1);
    expect(calls).not.toContain('post');
    clock.advance(1_000);
    await system.sweep.sweep();
    await countOf(system, 'delivered', 1);
    expect((await stored(system).findOne())?.attempts).toHaveLength(1);
  });

  it('waits for its event, if the process that published it ended before the event was stored', async () => {
    const receiver = await createReceiver();
    const clock = manualClock();
    const dead = await createSystem({
      clock,
      wrap: ({ events, deliveries, ...parts }) => ({
        ...parts,
        events: { ...events, insert: () => Promise.reject(new Error('ended')) },
        deliveries: {
          ...deliveries,
          insertLeased: async (...given) => {
            await deliveries.insertLeased(...given);
            throw new Error('ended');
          },
        },
      }),
    });
    const one = draft(dead.key(receiver.url));
    await expect(dead.publish([one])).rejects.toThrow('ended');
    await dead.stop();
    clock.advance(20_001);
    const other = await createSystem({ clock, db: dead.db, endpoints: dead.endpoints });
    await other.sweep.sweep();
    await until(() => stored(other).findOne({ status: 'pending', 'overdue.since': { $exists: true } }));
    await until(() =>
      stored(other).findOne({ status: 'pending', nextAttemptAt: { $gt: new Date(clock.now()) } }),
    );
    expect(receiver.received).toHaveLength(0);
    await other.publish([one]);
    clock.advance(1_001);
    await other.sweep.sweep();
    await until(() => receiver.received.length === 1);
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({ event: 'enrollment.created' });
  });
});
