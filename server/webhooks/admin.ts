import { z } from 'zod';
import {
  BulkDetail,
  BulkReference,
  BulkView,
  ListBulk,
  StartBulk,
  StartedBulk,
} from '../../contracts/admin/bulk.ts';
import {
  DeliveryReference,
  DeliveryView,
  ListDeliveries,
  ListedDelivery,
  RescheduleDelivery,
  ResendDeliveries,
  ResentDeliveries,
} from '../../contracts/admin/deliveries.ts';
import { ListedHealth, ReadHealth } from '../../contracts/admin/endpoint-health.ts';
import {
  EventDetail,
  EventReference,
  EventTimeline,
  ListEvents,
  ListedEvent,
  ReadEvent,
} from '../../contracts/admin/events.ts';
import {
  ChangedJob,
  JobDetail,
  JobReference,
  JobView,
  ListJobs,
  RescheduleJob,
} from '../../contracts/admin/jobs.ts';
import { KeyReference } from '../../contracts/admin/keys.ts';
import { pageFields, Total } from '../../contracts/admin/references.ts';
import { ReadSchedule, ScheduleRow, ScheduleView } from '../../contracts/admin/schedule.ts';
import {
  Relayed,
  RelayRequest,
  SignatureCheck,
  TriggerEvent,
  VerifyRequest,
} from '../../contracts/admin/webhooks.ts';
import { mutation, query, router } from '../platform/admin-api/procedures.ts';
import { adviseCommand, describeRefusal, mayCall, type Role } from '../platform/admin-api/roles.ts';
import { viewAs } from '../platform/admin-api/view.ts';
import { withPartnerName } from '../platform/database/partner-names.ts';
import { ApiError } from '../platform/errors.ts';
import { createBulkJobs } from './bulk/bulk-jobs.ts';
import type { OperatorsContext } from './context.ts';
import type { Delivery } from './delivery/delivery.ts';
import { hasPersonalData, visibleDelivery } from './operators/admin-personal-data.ts';
import { createDeliveryActions, type DeliveryActions } from './operators/delivery-actions.ts';
import { createEndpointHealth } from './operators/endpoints/health.ts';
import { createRelay } from './operators/endpoints/relay.ts';
import { createWebhookQueries, type WebhookQueries } from './operators/queries.ts';
import { createJobs } from './operators/schedule/jobs.ts';
import { viewDelivery } from './operators/views.ts';

const deliveryMutation = mutation({ target: 'deliveryId', record: 'none' });
const jobMutation = mutation({ target: 'jobId', record: 'none' });
const keyMutation = mutation({ target: 'keyId', record: 'none' });

/** Whoever sends events to another URL must be allowed to change the URL of their key. @throws ApiError `not_permitted` */
function requireMayRedirect({ to }: { to?: string | undefined }, role: Role): void {
  const path = 'webhooks.changeUrl';
  if (to === undefined || mayCall(role, path, undefined)) return;
  throw new ApiError('not_permitted', { description: describeRefusal(role, path) });
}

/** Procedures of `svcadmin events`, `deliveries`, `bulk`, `jobs`, and of most commands of `svcadmin webhooks`. */
export function createWebhookProcedures(context: OperatorsContext) {
  const actions = createDeliveryActions(context);
  const queries = createWebhookQueries(context, actions);
  return {
    events: eventProcedures(queries, context),
    deliveries: deliveryProcedures(queries, actions, context),
    bulk: bulkProcedures(context),
    jobs: jobProcedures(context),
    webhooks: endpointProcedures(context, actions),
  };
}

function eventProcedures(queries: WebhookQueries, { partnerNames }: OperatorsContext) {
  return router({
    list: query(ListEvents, z.array(ListedEvent), async (input, { operator }) =>
      withPartnerName(await queries.listEvents(input, operator.role), partnerNames),
    ),
    count: query(ListEvents.omit(pageFields), Total, queries.countEvents),
    show: query(ReadEvent, EventDetail, async ({ eventId, reason }, { operator, noteRead }) => {
      const event = await queries.showEvent(eventId, operator.role);
      // The audit log records only reads of personal data. Without a mode, it records nothing.
      const modes = hasPersonalData(event.body) ? [event.mode] : [];
      await noteRead({ target: eventId, modes, reason });
      return event;
    }),
    why: query(EventReference, EventTimeline, ({ eventId }, { operator: { role } }) =>
      queries.why(eventId, role, (path, command) => adviseCommand(role, path, command)),
    ),
  });
}

const viewFor = (role: Role, delivery: Delivery) => viewDelivery(visibleDelivery(role, delivery));

function deliveryProcedures(
  queries: WebhookQueries,
  actions: DeliveryActions,
  { partnerNames, schedule, clock, pauses }: OperatorsContext,
) {
  return router({
    list: query(ListDeliveries, z.array(ListedDelivery), async (input, { operator }) =>
      withPartnerName(await queries.listDeliveries(input, operator.role), partnerNames),
    ),
    count: query(ListDeliveries.omit(pageFields), Total, queries.countDeliveries),
    /** Counts what is due when, for whom and why. */
    schedule: query(ReadSchedule, ScheduleView, async (input) => {
      const { rows, keys, ...sums } = await schedule.read(input, new Date(clock.now()));
      const pauseOf = await pauses(keys.map(({ _id }) => _id));
      const paused = keys.reduce((sum, { _id, total }) => sum + (pauseOf.has(_id) ? total : 0), 0);
      const views = rows.map((row) => viewAs(ScheduleRow.omit({ partnerName: true }), row));
      return { ...sums, paused, rows: await withPartnerName(views, partnerNames) };
    }),
    show: query(DeliveryReference, DeliveryView, ({ deliveryId }, { operator }) =>
      queries.showDelivery(deliveryId, operator.role),
    ),
    resend: mutation({ target: 'deliveryIds', record: 'none' })(
      ResendDeliveries,
      ResentDeliveries,
      async (input, { operatorId }, { operator }) => {
        requireMayRedirect(input, operator.role);
        const { dryRun, deliveries } = await actions.resend(input, operatorId);
        return { dryRun, deliveries: deliveries.map((delivery) => viewFor(operator.role, delivery)) };
      },
    ),
    cancel: deliveryMutation(DeliveryReference, DeliveryView, async ({ deliveryId }, actor, { operator }) =>
      viewFor(operator.role, await actions.cancel(deliveryId, actor)),
    ),
    reschedule: deliveryMutation(
      RescheduleDelivery,
      DeliveryView,
      async ({ deliveryId, ...time }, actor, { operator }) =>
        viewFor(operator.role, await actions.reschedule(deliveryId, time, actor)),
    ),
  });
}

/** Procedures of `svcadmin bulk`, and of `svcadmin deliveries` with a filter. */
function bulkProcedures(context: OperatorsContext) {
  const jobs = createBulkJobs(context);
  return router({
    start: mutation({ target: null, record: 'several' })(
      StartBulk,
      StartedBulk,
      async (input, actor, { operator }) => {
        requireMayRedirect(input, operator.role);
        return jobs.start(input, actor);
      },
    ),
    list: query(ListBulk, z.array(BulkView), jobs.list),
    show: query(BulkReference, BulkDetail, async ({ bulkId }) => {
      const job = await jobs.show(bulkId);
      return { ...job, keys: await withPartnerName(job.keys, context.partnerNames) };
    }),
    cancel: mutation({ target: 'bulkId', record: 'several' })(BulkReference, BulkView, ({ bulkId }, actor) =>
      jobs.cancel(bulkId, actor),
    ),
  });
}

function jobProcedures(context: OperatorsContext) {
  const jobs = createJobs(context);
  return router({
    list: query(ListJobs, z.array(JobView), jobs.list),
    count: query(ListJobs.omit(pageFields), Total, jobs.count),
    show: query(JobReference, JobDetail, ({ jobId }) => jobs.show(jobId)),
    run: jobMutation(JobReference, ChangedJob, ({ jobId }, actor) => jobs.run(jobId, actor)),
    cancel: jobMutation(JobReference, ChangedJob, ({ jobId }, actor) => jobs.cancel(jobId, actor)),
    reschedule: jobMutation(RescheduleJob, ChangedJob, ({ jobId, ...time }, actor) =>
      jobs.reschedule(jobId, time, actor),
    ),
  });
}

function endpointProcedures(context: OperatorsContext, actions: DeliveryActions) {
  const relay = createRelay(context);
  const readHealth = createEndpointHealth(context);
  return router({
    health: query(ReadHealth, z.array(ListedHealth), async (input) =>
      withPartnerName(await readHealth(input), context.partnerNames),
    ),
    test: keyMutation(KeyReference, DeliveryView, async ({ keyId }, _actor, { leavePlace }) => {
      leavePlace();
      return viewDelivery(await actions.test(keyId));
    }),
    trigger: keyMutation(TriggerEvent, DeliveryView, async ({ event, keyId }) =>
      viewDelivery(await actions.trigger(keyId, event)),
    ),
    verify: query(VerifyRequest, SignatureCheck, relay.verify),
    relay: query(RelayRequest, Relayed, async (input, { noteRead }) => {
      const relayed = await relay.deliveriesSince(input);
      const personal = relayed.deliveries.filter(({ body }) => hasPersonalData(body));
      // Only test keys are relayed, so all these people are test users. Without a mode, the audit log records nothing.
      const modes = personal.length > 0 ? (['test'] as const) : [];
      await noteRead({ target: input.keyId, modes, counts: { deliveries: personal.length } });
      return relayed;
    }),
  });
}
