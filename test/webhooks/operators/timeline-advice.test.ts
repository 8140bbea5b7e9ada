import { describe, expect, it } from 'vitest';
import { skipReasons, waitReasons } from '../../../contracts/delivery-reasons.ts';
import type { SkipReason, WaitReason } from '../../../contracts/webhooks.ts';
import { adviseCommand } from '../../../server/platform/admin-api/roles.ts';
import { randomId } from '../../../server/platform/ids.ts';
import type { Delivery } from '../../../server/webhooks/delivery/delivery.ts';
import type { OffReason } from '../../../server/webhooks/delivery/endpoint.ts';
import { composeDelivery, composeEvent } from '../../../server/webhooks/delivery/events.ts';
import { describeTimeline } from '../../../server/webhooks/operators/timeline.ts';
import { draft, idKey } from '../system.ts';

const at = new Date();
const event = composeEvent(draft(randomId('apiKey'), at), idKey);
const delivery = composeDelivery(event, { id: randomId('delivery'), trigger: 'event', dueAt: at, now: at });

const timelineOf = (
  last: Delivery,
  waits = new Map<string, WaitReason>(),
  offKeys = new Map<string, OffReason>(),
) =>
  describeTimeline(event, [last], {
    adviseCommand: (path, command) => adviseCommand('owner', path, command),
    now: new Date(at.getTime() + 60_000),
    ...{ waits, offKeys },
  });
const adviceFor = (last: Delivery, waits?: Map<string, WaitReason>) => timelineOf(last, waits).advice;

describe('the advice of a timeline', () => {
  it.each(Object.keys(waitReasons) as WaitReason[])(
    'names a command if an attempt waits for %s',
    (reason) => {
      expect(adviceFor(delivery, new Map([[delivery._id, reason]]))).toMatch(/svcadmin [a-z]+/);
    },
  );

  it.each(Object.keys(skipReasons) as SkipReason[])(
    'names a command if a delivery is skipped for %s',
    (reason) => {
      const skipped = {
        ...delivery,
        status: 'skipped',
        endedAt: at,
        skipped: { reason },
      } as unknown as Delivery;
      expect(adviceFor(skipped)).toMatch(/svcadmin [a-z]+/);
    },
  );

  it.each(['no_url', 'key_revoked', 'partner_suspended', 'partner_closed'] as const)(
    'says that a pending delivery will be skipped for %s, whatever it waits for',
    (reason) => {
      const off = new Map([[delivery.keyId, reason]]);
      for (const waits of [new Map(), new Map([[delivery._id, 'not_taken_up' as const]])]) {
        const { story, advice } = timelineOf(delivery, waits, off);
        expect(story.at(-1)).toBe(
          `As things are, delivery ${delivery._id} will be skipped then: ${skipReasons[reason]}.`,
        );
        // A pending delivery cannot be resent, so the advice is not to.
        expect(advice).toMatch(/svcadmin (webhooks set|clients update|partners activate) /);
        expect(advice).not.toContain('resend');
      }
    },
  );

  it('names none if nothing is needed', () => {
    expect(adviceFor(delivery)).toBeNull();
  });
});

it('a timeline says how late an attempt began, and names no cause that is not stored', () => {
  const attempt = { attempt: 1, trigger: 'event' as const, dueAt: at, at: new Date(at.getTime() + 8000) };
  const late = { ...delivery, status: 'delivered', attempts: [{ ...attempt, status: 200 }] } as Delivery;
  const { story } = describeTimeline(event, [late], {
    adviseCommand: (_path, command) => command,
    now: at,
    waits: new Map(),
    offKeys: new Map(),
  });
  // It may have waited for a slot, a worker, a master key or the end of a pause.
  expect(story[1]).toContain('(immediately, 8.0 s after it was due): it was acknowledged');
});
