import { expect, it } from 'vitest';
import type { StoredEvent } from '../../../server/webhooks/delivery/delivery.ts';
import { createReceiver } from '../../harness/receiver.ts';
import { createSystem, draft, until } from '../system.ts';

/** A system that notes the sizes of its inserts of events, and refuses those that contain a refused one. */
async function noted() {
  const sizes: number[] = [];
  const refused = new Set<string>();
  const receiver = await createReceiver();
  const system = await createSystem({
    wrap: ({ events, ...parts }) => ({
      ...parts,
      events: {
        ...events,
        async insert(documents: readonly StoredEvent[]) {
          sizes.push(documents.length);
          if (documents.some(({ enrollmentId = '' }) => refused.has(enrollmentId)))
            throw new Error('the database refuses a document');
          await events.insert(documents);
        },
      },
    }),
  });
  return { sizes, refused, receiver, system, keyId: system.key(receiver.url) };
}

it('events that several callers publish during an insert are stored by one command after it', async () => {
  const { sizes, receiver, system, keyId } = await noted();
  await Promise.all(Array.from({ length: 20 }, () => system.publish([draft(keyId)])));
  expect(sizes.length).toBeLessThanOrEqual(2);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(20);
  await until(() => receiver.received.length === 20);
});

it('an event that the database refuses fails its caller alone', async () => {
  const { refused, receiver, system, keyId } = await noted();
  const drafts = Array.from({ length: 5 }, () => draft(keyId));
  refused.add(drafts[2]?.about.enrollmentId ?? '');
  const results = await Promise.allSettled(drafts.map((one) => system.publish([one])));
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
  await until(() => receiver.received.length >= 4);
});
