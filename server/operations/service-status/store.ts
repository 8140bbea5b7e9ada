import type { Db } from 'mongodb';
import { createServiceHourStore, indexes } from './service-hour-store.ts';

export { indexes };

/** The stores of this feature. */
export const createStatusStores = (db: Db) => ({ hours: createServiceHourStore(db) });
