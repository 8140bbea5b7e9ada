import type { NewTime, ResendDeliveries } from '../../../contracts/admin/deliveries.ts';
import type { EventName } from '../../../contracts/event-names.ts';
import { attemptLimit, attemptTimeoutMs } from '../../../contracts/webhooks.ts';
import { groupBy } from '../../platform/batching/group-by.ts';
import type { Actor } from '../../platform/database/audit/audit-entry.ts';
import { endDryRun } from '../../platform/database/audit/dry-run.ts';
import { givenFields } from '../../platform/database/reads/look-through.ts';
import { ApiError, requireFound } from '../../platform/errors.ts';
import { randomId } from '../../platform/ids.ts';
import type { OperatorsContext } from '../context.ts';
import type { Delivery, StoredEvent } from '../delivery/delivery.ts';
import { composeDelivery, composeEvent, purgeDate } from '../delivery/events.ts';
import { finalStatuses } from './delivery-query-store.ts';
import type { KeyOwner } from './endpoints/key-owner.ts';
import { createRequireOtherUrl, requireSomeEndpoint } from './endpoints/required-endpoint.ts';
import { sampleDraft, spacedJson, testEvent } from './endpoints/samples.ts';
import { requireDueTime, requireKept } from './schedule/reschedule.ts';
import {
  createTestLimit,
  mostWaiting,
  requireRoom,
  resentPerSecond,
  waitForEnd,
} from './schedule/waiting-limits.ts';

/** How long a test waits for its only attempt. The additional time is for its start and its record. */
const testTimeoutMs = attemptTimeoutMs + 5_000;

/** Makes the error for a change of a delivery that does not wait. */
function notWaitingError({ _id, status }: Delivery, participle: string): ApiError {
  // The change did not find the delivery pending. If it is pending now, an attempt has just ended and another one follows.
  const isBeingSent = status === 'in_flight' || status === 'pending';
  const why = isBeingSent ? 'an attempt is under way; try again in a moment' : `it is ${status} already`;
  return new ApiError('conflict', { description: `Delivery ${_id} cannot be ${participle}: ${why}` });
}

/** Gives each delivery a due time for its resend. Of one key, at most `resentPerSecond` become due in a second. */
function spreadResends(deliveries: readonly Delivery[], start: Date) {
  const countOfKey = new Map<string, number>();
  return deliveries.map((delivery) => {
    const count = countOfKey.get(delivery.keyId) ?? 0;
    countOfKey.set(delivery.keyId, count + 1);
    const secondsAfterStart = Math.floor(count / resentPerSecond);
    return { delivery, dueAt: new Date(start.getTime() + secondsAfterStart * 1000) };
  });
}

const hasEnded = (delivery: Delivery): boolean => finalStatuses.some((status) => status === delivery.status);

export type DeliveryActions = ReturnType<typeof createDeliveryActions>;

/** Actions of operators on deliveries. The methods throw ApiError. */
export function createDeliveryActions(context: OperatorsContext) {
  const { events, deliveryQueries, insertAndSend, due, requireKey, pauses, whyOff, clock, idKey } = context;
  const requireOtherUrl = createRequireOtherUrl(context);
  const now = () => new Date(clock.now());

  const requireDelivery = async (id: string): Promise<Delivery> =>
    requireFound(await deliveryQueries.find(id), `No delivery ${id}`);

  const runTest = createTestLimit();

  let turn: Promise<unknown> = Promise.resolve();

  /**
   * Makes deliveries by hand, one call after another, so that each counts the deliveries of those before it.
   * @param keyIds the key of each delivery
   * @throws ApiError `rate_limited` if too many deliveries by hand would wait for a key
   */
  function dispatchInTurn<T>(keyIds: readonly string[], run: () => Promise<T>): Promise<T> {
    async function runWithRoom(): Promise<T> {
      for (const [keyId, { length: added }] of groupBy(keyIds, (id) => id))
        requireRoom(keyId, await deliveryQueries.countByHand(keyId, mostWaiting), added);
      return run();
    }
    const result = turn.then(runWithRoom);
    turn = result.catch(() => undefined);
    return result;
  }

  async function resendAll(
    originals: readonly Delivery[],
    by: { operatorId: string; to?: string },
  ): Promise<Delivery[]> {
    const at = now();
    const eventIds = originals.map(({ eventId }) => eventId);
    const stored = await events.findAll(eventIds);
    const resends = spreadResends(originals, at).map(({ delivery: { _id: resendOf, eventId }, dueAt }) => {
      const event = stored.get(eventId);
      if (!event) throw new ApiError('conflict', { description: `Event ${eventId} has expired` });
      const id = randomId('delivery');
      return composeDelivery(event, { id, trigger: 'resend', dueAt, now: at, resendOf, ...by });
    });
    await events.keepUntil(eventIds, purgeDate(at));
    await insertAndSend(resends);
    return resends;
  }

  /** Makes and dispatches a sample event. @param limit the most attempts that its delivery may make */
  async function sendSample(type: EventName, owner: KeyOwner, limit: number): Promise<Delivery> {
    const at = now();
    const composed = composeEvent(sampleDraft(type, owner, at), idKey);
    const event: StoredEvent = { ...composed, body: spacedJson(composed.body) };
    const start = { id: randomId('delivery'), trigger: 'test' as const, dueAt: at, now: at, limit };
    const delivery = composeDelivery(event, start);
    await dispatchInTurn([owner.keyId], async () => {
      await events.insert([event]);
      await insertAndSend([delivery]);
    });
    return delivery;
  }

  return {
    requireDelivery,

    /**
     * Sends the events of deliveries again, each once, also if it is named twice. A dry run only finds the deliveries.
     */
    async resend({ deliveryIds: namedIds, to, dryRun }: ResendDeliveries, operatorId: string) {
      const deliveryIds = [...new Set(namedIds)];
      const found = await deliveryQueries.findAll(deliveryIds);
      const chosen = deliveryIds.map((id) => requireFound(found.get(id), `No delivery ${id}`));
      const keyIds = chosen.map(({ keyId }) => keyId);
      if (to === undefined) await requireSomeEndpoint([...new Set(keyIds)], whyOff);
      else await requireOtherUrl(to, keyIds);
      if (dryRun) return { dryRun, deliveries: chosen };
      const by = { operatorId, ...givenFields({ to }) };
      return { dryRun, deliveries: await dispatchInTurn(keyIds, () => resendAll(chosen, by)) };
    },

    async cancel(id: string, actor: Actor): Promise<Delivery> {
      const delivery = await requireDelivery(id);
      if (delivery.status !== 'pending') throw notWaitingError(delivery, 'cancelled');
      endDryRun(actor);
      const cancelled = await deliveryQueries.cancel(id, now());
      if (cancelled) return cancelled;
      throw notWaitingError(await requireDelivery(id), 'cancelled');
    },

    /** Changes the time of the attempt that a delivery waits for. */
    async reschedule(id: string, time: NewTime, actor: Actor): Promise<Delivery> {
      const at = requireDueTime(time, now());
      const delivery = await requireDelivery(id);
      if (delivery.status !== 'pending') throw notWaitingError(delivery, 'moved');
      requireKept(at, delivery.purgeAt);
      endDryRun(actor);
      const moved = await deliveryQueries.move(id, { at, trigger: 'reschedule' });
      if (!moved) throw notWaitingError(await requireDelivery(id), 'moved');
      await due.retryAt(at);
      return moved;
    },

    /**
     * Sends one sample once, and waits for the result. After `testTimeoutMs`, or immediately if the key is paused, returns the
     * delivery as it is.
     */
    async test(keyId: string): Promise<Delivery> {
      const owner = await requireKey(keyId);
      return runTest(owner.partnerId, async () => {
        const sample = await sendSample(testEvent, owner, 1);
        const { _id } = sample;
        if ((await pauses([keyId])).has(keyId)) return sample;
        return waitForEnd(() => requireDelivery(_id), hasEnded, testTimeoutMs);
      });
    },

    /** Sends a sample with the usual retries. Live receivers get only the harmless sample of `test`. */
    async trigger(keyId: string, type: EventName): Promise<Delivery> {
      const owner = await requireKey(keyId);
      if (owner.mode === 'live') {
        throw new ApiError('refused', {
          description: 'Samples of this kind are for test keys; `webhooks test` sends a harmless one',
        });
      }
      return sendSample(type, owner, attemptLimit);
    },
  };
}
