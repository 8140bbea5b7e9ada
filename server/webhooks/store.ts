import type { Db } from 'mongodb';
import { createBulkStore } from './bulk/bulk-store.ts';
import { createDeliveryStore } from './delivery/delivery-store.ts';
import { createEventErasure } from './delivery/erasure-store.ts';
import { createEventStore } from './delivery/event-store.ts';
import { createDeliveryQueryStore } from './operators/delivery-query-store.ts';
import { createHealthStore } from './operators/endpoints/health-store.ts';
import { createScheduleStore } from './operators/schedule/schedule-store.ts';

/** The stores of this feature. @param maintenance the same database through connections with a longer timeout */
export function createWebhooksStores(db: Db, maintenance: Db = db) {
  return {
    events: createEventStore(db),
    deliveries: createDeliveryStore(db),
    bulk: createBulkStore(db, maintenance),
    deliveryQueries: createDeliveryQueryStore(db),
    health: createHealthStore(db),
    schedule: createScheduleStore(db),
    erasure: createEventErasure(db),
  };
}
