import type { KillPoint } from './kill-points.ts';
import type { WebhookPoint } from './webhook-run.ts';

const dies = (name: string, point: KillPoint): WebhookPoint => ({
  name,
  fault: { kills: 'server', point },
  moments: 1,
});

const database = (['delivery:after', 'lease:after', 'post:after'] as const).map(
  (point): WebhookPoint => ({
    name: `database dies under load, ${point}`,
    fault: { kills: 'database', point },
    moments: point === 'post:after' ? 3 : 1,
    // First attempts are leased when they are stored, so only retries reach a lease of their own.
    ...(point === 'lease:after' ? { refused: 1 } : {}),
  }),
);

const stopping = (['post:before', 'record:before'] as const).map(
  (point): WebhookPoint => ({
    name: `shutdown, ${point}`,
    fault: { kills: 'stopping server', point },
    moments: 1,
  }),
);

/** The points of all faults between the insert of an event and the record of its attempt. */
export const webhookPoints: readonly WebhookPoint[] = [
  dies('event written, its delivery perhaps not', 'event:after'),
  dies('delivery written under its lease, not sent', 'delivery:after'),
  dies('delivery not written, its event perhaps', 'delivery:before'),
  { ...dies('delivery written, not scheduled', 'delivery:after'), sendsNot: true },
  { ...dies('leased, before the POST', 'post:before'), moments: 3 },
  { ...dies('after the POST, before its record', 'post:after'), moments: 3 },
  { ...dies('recorded, next attempt not scheduled', 'record:after'), refused: 1 },
  ...stopping,
  { name: 'jobs dropped', fault: { drops: 'jobs' }, refused: 1 },
  ...database,
];
