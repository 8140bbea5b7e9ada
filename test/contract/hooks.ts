import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { expect } from 'vitest';
import type { EventName } from '../../contracts/event-names.ts';
import { eventSchemas } from '../../contracts/events.ts';
import type { TestPartner } from '../harness/partner.ts';
import { createReceiver, type Received } from '../harness/receiver.ts';
import { conformEvent } from './conformance.ts';
import type { Harness } from './harness.ts';

export interface Delivered {
  headers: IncomingHttpHeaders;
  raw: Buffer;
  body: Record<string, unknown>;
}

export const read = ({ headers, raw, body }: Received): Delivered => ({
  headers,
  raw,
  body: JSON.parse(body),
});

/** Whether the signature is right (interface 5.5): the HMAC of the raw body, compared in constant time. */
export function isSigned({ headers, raw }: Pick<Delivered, 'headers' | 'raw'>, secret: string): boolean {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`);
  const sent = Buffer.from(String(headers['x-svc-signature']));
  return sent.length === expected.length && timingSafeEqual(sent, expected);
}

/**
 * Starts a receiver until the test ends, and sets its URL for the partner's key. `event` checks a body against the
 * contract and the OpenAPI document. `answer` gets the earlier deliveries too, and may leave a request unanswered.
 */
export async function receive(
  harness: Harness,
  partner: TestPartner,
  answer: (response: ServerResponse, delivered: readonly Delivered[]) => void = (response) =>
    response.writeHead(204).end(),
) {
  const delivered: Delivered[] = [];
  const { url, received } = await createReceiver((_count, _request, response) => {
    delivered.push(...received.slice(-1).map(read));
    answer(response, delivered);
  });
  const { signingSecret } = await harness.admin.webhooks.set.mutate({ keyId: partner.keyId, url });

  return {
    url,
    signingSecret,
    delivered,
    /** Waits for the first delivery of an event of this type. */
    async event(type: EventName): Promise<Delivered> {
      const found = () => delivered.find(({ body }) => body['event'] === type);
      await expect.poll(found).toBeDefined();
      const event = found();
      if (!event) throw new Error('it was there');
      conformEvent(type, event.body);
      eventSchemas[type].parse(event.body);
      return event;
    },
    /** Deliveries of this type, oldest first. */
    of: (type: EventName) => delivered.filter(({ body }) => body['event'] === type),
    /** Reads the newest delivery of this type from the admin API. */
    async delivery(type: EventName) {
      const list = await harness.admin.deliveries.list.query({ partnerId: partner.partnerId, event: type });
      return list[0];
    },
  };
}
