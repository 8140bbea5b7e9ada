import type { Db } from 'mongodb';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import { createDeliveryStore, indexes as deliveryIndexes } from './delivery/delivery-store.ts';
import { createEventErasure } from './delivery/erasure-store.ts';
import { createEventStore, indexes as eventIndexes } from './delivery/event-store.ts';
import { createDeliveryQueryStore } from './operators/delivery-query-store.ts';

export const indexes: IndexDeclaration[] = [...eventIndexes, ...deliveryIndexes];

/** What this feature keeps. */
export function createWebhooksStores(db: Db) {
  return {
    events: createEventStore(db),
    deliveries: createDeliveryStore(db),
    deliveryQueries: createDeliveryQueryStore(db),
    erasure: createEventErasure(db),
  };
}
