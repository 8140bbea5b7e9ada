import { expect, it } from 'vitest';
import { randomId } from '../../../server/platform/ids.ts';
import type { Delivery } from '../../../server/webhooks/delivery/delivery.ts';
import { composeDelivery, composeEvent } from '../../../server/webhooks/delivery/events.ts';
import { statusOf, viewDelivery } from '../../../server/webhooks/operators/views.ts';
import { draft, idKey } from '../system.ts';

const dueAt = new Date('2026-07-01T12:00:00Z');
const event = composeEvent(draft(randomId('apiKey'), dueAt), idKey);
const delivery = composeDelivery(event, { id: randomId('delivery'), trigger: 'event', dueAt, now: dueAt });

it('an attempt is shown with the milliseconds from when it was due to when it began', () => {
  const row = { attempt: 1, trigger: 'event' as const, dueAt, at: new Date(dueAt.getTime() + 1_500) };
  expect(viewDelivery({ ...delivery, attempts: [row] }).attempts).toMatchObject([{ waitedMs: 1_500 }]);
});

it.each<[Delivery['status'], (Pick<Delivery, 'status'> & Partial<Delivery>)[]]>([
  ['delivered', [{ status: 'delivered' }, { status: 'failed' }]],
  ['failed', [{ status: 'skipped' }, { status: 'failed' }]],
  ['failed', [{ status: 'failed' }, { status: 'delivered', to: 'https://other.example/' }]],
  ['delivered', [{ status: 'delivered', to: 'https://other.example/' }]],
  ['pending', []],
])('an event is %s if its deliveries are %j', (status, deliveries) => {
  expect(statusOf(deliveries.map((fields) => ({ ...delivery, ...fields })))).toBe(status);
});
