import { z } from 'zod';
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
  EventView,
  ListEvents,
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
import { pageFields, Total } from '../../contracts/admin/references.ts';
import {
  Relayed,
  RelayRequest,
  SignatureCheck,
  TestEndpoint,
  TriggerEvent,
  VerifyRequest,
} from '../../contracts/admin/webhooks.ts';
import { mergeRouters, mutation, procedure, query, router } from '../platform/admin-api/procedures.ts';
import { adviseCommand, type Role } from '../platform/admin-api/roles.ts';
import { type PartnerNames, withPartnerName } from '../platform/database/partner-names.ts';
import { bulkProcedures } from './bulk/admin-bulk.ts';
import { createBulkJobs } from './bulk/bulk-jobs.ts';
import type { Delivery } from './delivery/delivery.ts';
import { hasPersonalData, visibleDelivery } from './operators/admin-personal-data.ts';
import { createDeliveryActions, type DeliveryActions } from './operators/delivery-actions.ts';
import { createEndpointHealth, type ReadEndpointHealth } from './operators/health.ts';
import { createJobs, type Jobs } from './operators/jobs.ts';
import type { ReadPauses, RequireKey } from './operators/key-owner.ts';
import { createWebhookQueries, type WebhookQueries } from './operators/queries.ts';
import { createRelay, type Relay } from './operators/relay.ts';
import { viewDelivery } from './operators/views.ts';
import type { Webhooks } from './webhooks.ts';

interface Dependencies {
  webhooks: Webhooks;
  requireKey: RequireKey;
  pauses: ReadPauses;
  /** The subject of an enrollment. */
  subjectOf: (enrollmentId: string) => Promise<string | undefined>;
  /** The names of partners, by their ids. */
  partnerNames: PartnerNames;
}

/** Procedures of `svcadmin events`, `deliveries`, `bulk`, `jobs`, and of most commands of `svcadmin webhooks`. */
export function createWebhookProcedures(dependencies: Dependencies) {
  const { webhooks, partnerNames } = dependencies;
  const context = { ...dependencies, ...webhooks.context };
  const actions = createDeliveryActions(context);
  const queries = createWebhookQueries({ ...context, requireDelivery: actions.requireDelivery });
  return {
    events: eventProcedures(queries),
    deliveries: deliveryProcedures(queries, actions, partnerNames),
    bulk: bulkProcedures(createBulkJobs({ ...context, store: context.bulk })),
    jobs: jobProcedures(createJobs(context)),
    webhooks: mergeRouters(
      senderProcedures(createRelay(context), actions),
      healthProcedures(createEndpointHealth(context), partnerNames),
    ),
  };
}

function eventProcedures(queries: WebhookQueries) {
  return router({
    list: procedure
      .input(ListEvents)
      .output(z.array(EventView))
      .query(({ input, ctx }) => queries.listEvents(input, ctx.operator.role)),
    count: query(ListEvents.omit(pageFields), Total, (input) => queries.countEvents(input)),
    show: procedure
      .input(ReadEvent)
      .output(EventDetail)
      .query(async ({ input: { eventId, reason }, ctx }) => {
        const event = await queries.showEvent(eventId, ctx.operator.role);
        // The audit log records only reads of personal data. Without a mode, it records nothing.
        const modes = hasPersonalData(event.body) ? [event.mode] : [];
        await ctx.noteRead({ target: eventId, modes, reason });
        return event;
      }),
    why: procedure
      .input(EventReference)
      .output(EventTimeline)
      .query(({ input, ctx }) => {
        const { role } = ctx.operator;
        return queries.why(input.eventId, role, (path, command) => adviseCommand(role, path, command));
      }),
  });
}

/** The view of a delivery for operators of this role. */
const viewFor = (role: Role) => (delivery: Delivery) => viewDelivery(visibleDelivery(role, delivery));

function deliveryProcedures(queries: WebhookQueries, actions: DeliveryActions, partnerNames: PartnerNames) {
  return router({
    list: procedure
      .input(ListDeliveries)
      .output(z.array(ListedDelivery))
      .query(async ({ input, ctx }) => {
        const found = await queries.listDeliveries(input, ctx.operator.role);
        return withPartnerName(found, partnerNames);
      }),
    count: query(ListDeliveries.omit(pageFields), Total, (input) => queries.countDeliveries(input)),
    show: procedure
      .input(DeliveryReference)
      .output(DeliveryView)
      .query(({ input, ctx }) => queries.showDelivery(input.deliveryId, ctx.operator.role)),
    resend: procedure
      .input(ResendDeliveries)
      .output(ResentDeliveries)
      .mutation(async ({ input, ctx }) => {
        const { deliveries, ...rest } = await actions.resend(input, ctx.operator.id);
        return { ...rest, deliveries: deliveries.map(viewFor(ctx.operator.role)) };
      }),
    cancel: procedure
      .input(DeliveryReference)
      .output(DeliveryView)
      .mutation(async ({ input, ctx }) => viewFor(ctx.operator.role)(await actions.cancel(input.deliveryId))),
    reschedule: procedure
      .input(RescheduleDelivery)
      .output(DeliveryView)
      .mutation(async ({ input: { deliveryId, ...time }, ctx }) =>
        viewFor(ctx.operator.role)(await actions.reschedule(deliveryId, time)),
      ),
  });
}

function jobProcedures(jobs: Jobs) {
  return router({
    list: query(ListJobs, z.array(JobView), (input) => jobs.list(input)),
    count: query(ListJobs.omit(pageFields), Total, (input) => jobs.count(input)),
    show: query(JobReference, JobDetail, ({ jobId }) => jobs.show(jobId)),
    run: mutation(JobReference, ChangedJob, ({ jobId }) => jobs.run(jobId)),
    cancel: mutation(JobReference, ChangedJob, ({ jobId }) => jobs.cancel(jobId)),
    reschedule: mutation(RescheduleJob, ChangedJob, ({ jobId, ...time }) => jobs.reschedule(jobId, time)),
  });
}

function healthProcedures(read: ReadEndpointHealth, partnerNames: PartnerNames) {
  return router({
    health: query(ReadHealth, z.array(ListedHealth), async (input) =>
      withPartnerName(await read(input), partnerNames),
    ),
  });
}

function senderProcedures(relay: Relay, actions: DeliveryActions) {
  return router({
    test: mutation(TestEndpoint, DeliveryView, async ({ keyId }) => viewDelivery(await actions.test(keyId))),
    trigger: mutation(TriggerEvent, DeliveryView, async ({ event, keyId }) =>
      viewDelivery(await actions.trigger(keyId, event)),
    ),
    verify: query(VerifyRequest, SignatureCheck, (input) => relay.verify(input)),
    relay: procedure
      .input(RelayRequest)
      .output(Relayed)
      .query(async ({ input, ctx }) => {
        const relayed = await relay.deliveriesSince(input);
        const personal = relayed.deliveries.filter(({ body }) => hasPersonalData(body));
        // Only test keys are relayed, so all these people are test users. Without a mode, the audit log records nothing.
        const modes = personal.length > 0 ? (['test'] as const) : [];
        await ctx.noteRead({ target: input.keyId, modes, counts: { deliveries: personal.length } });
        return relayed;
      }),
  });
}
