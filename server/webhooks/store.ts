import type { Db } from 'mongodb';
import type { IndexDeclaration } from '../platform/database/schema/indexes.ts';
import { indexes as bulkIndexes, createBulkStore } from './bulk/bulk-store.ts';
import { createDeliveryStore, indexes as deliveryIndexes } from './delivery/delivery-store.ts';
import { createEventErasure } from './delivery/erasure-store.ts';
import { createEventStore, indexes as eventIndexes } from './delivery/event-store.ts';
import { createDeliveryQueryStore } from './operators/delivery-query-store.ts';
import { createHealthStore } from './operators/endpoints/health-store.ts';
import { createScheduleStore } from './operators/schedule/schedule-store.ts';

export const indexes: IndexDeclaration[] = [...eventIndexes, ...deliveryIndexes, ...bulkIndexes];

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
