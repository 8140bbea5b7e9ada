import type { DeliveryView, ListDeliveries } from '../../../contracts/admin/deliveries.ts';
import type { EventDetail, EventTimeline, EventView, ListEvents } from '../../../contracts/admin/events.ts';
import type { OperatorRole } from '../../../contracts/admin/operators.ts';
import type { Total, Unpaged } from '../../../contracts/admin/references.ts';
import { groupBy } from '../../platform/batching/group-by.ts';
import { requireFound } from '../../platform/errors.ts';
import type { OperatorsContext } from '../context.ts';
import type { Delivery, StoredEvent } from '../delivery/delivery.ts';
import type { OffReason } from '../delivery/endpoint.ts';
import { visibleDelivery, visibleEvent } from './admin-personal-data.ts';
import type { DeliveryActions } from './delivery-actions.ts';
import { queryOf } from './delivery-query-store.ts';
import { createWaiting } from './schedule/waiting.ts';
import { type CommandAdvice, describeTimeline } from './timeline.ts';
import { viewDelivery, viewEvent } from './views.ts';

type EventFilter = Unpaged<ListEvents>;
type DeliveryFilter = Unpaged<ListDeliveries>;

export type WebhookQueries = ReturnType<typeof createWebhookQueries>;

/** Queries of operators about events and deliveries. The methods throw ApiError. */
export function createWebhookQueries(context: OperatorsContext, { requireDelivery }: DeliveryActions) {
  const { events, deliveryQueries, clock, subjectOf, whyOff } = context;
  const reasonsToWait = createWaiting(context);

  async function view(deliveries: readonly Delivery[], role: OperatorRole): Promise<DeliveryView[]> {
    const waits = await reasonsToWait(deliveries);
    return deliveries.map((delivery) =>
      viewDelivery(visibleDelivery(role, delivery), waits.get(delivery._id)),
    );
  }

  async function deliveriesOf(eventIds: readonly string[], role: OperatorRole): Promise<Delivery[]> {
    return (await deliveryQueries.ofEvents(eventIds)).map((delivery) => visibleDelivery(role, delivery));
  }

  /** The keys of pending deliveries to which nothing is sent now. */
  async function offKeysOf(deliveries: readonly Delivery[]): Promise<Map<string, OffReason>> {
    const pending = deliveries.filter(({ status }) => status === 'pending');
    const keyIds = [...new Set(pending.map(({ keyId }) => keyId))];
    const reasons = await Promise.all(keyIds.map((keyId) => whyOff(keyId)));
    return new Map(
      keyIds.flatMap((keyId, index) => {
        const reason = reasons[index];
        return reason ? [[keyId, reason] as const] : [];
      }),
    );
  }

  const requireEvent = async (id: string): Promise<StoredEvent> =>
    requireFound(await events.find(id), `No event ${id}; events are kept for 30 days`);

  /** The query of a list. A condition on an enrollment gets one on its subject too, because only the subject has an index. */
  async function eventQuery(conditions: EventFilter) {
    const { enrollmentId, sub } = conditions;
    return queryOf({ ...conditions, sub: sub ?? (enrollmentId && (await subjectOf(enrollmentId))) });
  }

  /** The query of a list. `waiting` is no stored status: it finds pending deliveries that are due. */
  function deliveryQuery({ status, ...conditions }: DeliveryFilter) {
    if (status !== 'waiting') return queryOf({ ...conditions, status });
    const passed = { $lte: new Date(clock.now()) };
    const due = { $or: [{ nextAttemptAt: passed }, { 'overdue.since': passed }] };
    return { ...queryOf(conditions), status: 'pending', ...due };
  }

  return {
    countEvents: async (filter: EventFilter): Promise<Total> => events.count(await eventQuery(filter)),
    countDeliveries: (filter: DeliveryFilter): Promise<Total> => deliveryQueries.count(deliveryQuery(filter)),

    async listEvents({ limit, after, ...conditions }: ListEvents, role: OperatorRole): Promise<EventView[]> {
      const last = after === undefined ? undefined : await requireEvent(after);
      const found = await events.list(await eventQuery(conditions), { limit, after: last });
      const eventIds = found.map(({ _id }) => _id);
      const deliveries = groupBy(await deliveriesOf(eventIds, role), ({ eventId }) => eventId);
      return found.map((event) => viewEvent(visibleEvent(role, event), deliveries.get(event._id) ?? []));
    },

    async showEvent(id: string, role: OperatorRole): Promise<EventDetail> {
      const event = visibleEvent(role, await requireEvent(id));
      return { ...viewEvent(event, await deliveriesOf([id], role)), body: event.body };
    },

    async why(id: string, role: OperatorRole, adviseCommand: CommandAdvice): Promise<EventTimeline> {
      const event = visibleEvent(role, await requireEvent(id));
      const deliveries = await deliveriesOf([id], role);
      const [waits, offKeys] = await Promise.all([reasonsToWait(deliveries), offKeysOf(deliveries)]);
      return describeTimeline(event, deliveries, {
        ...{ adviseCommand, waits, offKeys },
        now: new Date(clock.now()),
      });
    },

    async listDeliveries(
      { limit, after, ...filter }: ListDeliveries,
      role: OperatorRole,
    ): Promise<DeliveryView[]> {
      const last = after === undefined ? undefined : await requireDelivery(after);
      return view(await deliveryQueries.list(deliveryQuery(filter), { limit, after: last }), role);
    },

    async showDelivery(id: string, role: OperatorRole): Promise<DeliveryView> {
      const delivery = await requireDelivery(id);
      const waits = await reasonsToWait([delivery]);
      return viewDelivery(visibleDelivery(role, delivery), waits.get(id));
    },
  };
}
