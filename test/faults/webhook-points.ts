import type { FaultPoint } from './fault.ts';
import type { WebhookPoint } from './webhook-run.ts';

const dies = (name: string, point: FaultPoint): WebhookPoint => ({
  name,
  strike: { kills: 'server', point },
  moments: 1,
});

const database = (['delivery:after', 'lease:after', 'post:after'] as const).map(
  (point): WebhookPoint => ({
    name: `database dies under load, ${point}`,
    strike: { kills: 'database', point },
    moments: point === 'delivery:after' ? 1 : 3,
  }),
);

const stopping = (['post:before', 'record:before'] as const).map(
  (point): WebhookPoint => ({
    name: `shutdown, ${point}`,
    strike: { kills: 'stopping server', point },
    moments: 1,
  }),
);

/** Everything that is done to an event on its way. */
export const webhookPoints: readonly WebhookPoint[] = [
  dies('event written, delivery not', 'event:after'),
  dies('delivery written, nobody woken', 'delivery:after'),
  { ...dies('delivery written, not scheduled', 'delivery:after'), sendsNot: true },
  { ...dies('leased, before the POST', 'post:before'), moments: 3 },
  { ...dies('after the POST, before its record', 'post:after'), moments: 3 },
  { ...dies('recorded, next attempt not scheduled', 'record:after'), refused: 1 },
  ...stopping,
  { name: 'jobs dropped', strike: { drops: 'jobs' }, refused: 1 },
  ...database,
];
