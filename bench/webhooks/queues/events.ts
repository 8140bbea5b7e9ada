import { randomBytes } from 'node:crypto';
import { randomId } from '../../../server/platform/ids.ts';

/** An event for the nth endpoint. `at` is the time from which its lateness counts. */
export interface QueuedEvent {
  endpoint: number;
  enrollmentId: string;
  sub: string;
  at: Date;
}

export const makeEvent = (endpoint: number, at: Date): QueuedEvent => ({
  endpoint,
  enrollmentId: randomId('enrollment'),
  sub: randomBytes(32).toString('base64url'),
  at,
});

/** A delivery as a queue of others stores it: what it sends, and where. It has the fields of our events in their order. */
export interface Job {
  endpoint: number;
  eventId: string;
  body: string;
}

export function jobOf({ endpoint, enrollmentId, sub, at }: QueuedEvent): Job {
  const eventId = randomId('event');
  const payload = {
    event: 'enrollment.created',
    event_id: eventId,
    partner_id: `ptr_${String(endpoint).padStart(22, '0')}`,
    enrollment_id: enrollmentId,
    user_id: sub,
    created_at: at.toISOString(),
  };
  return { endpoint, eventId, body: JSON.stringify(payload) };
}
