import type { Db } from 'mongodb';
import { createServiceHourStore, indexes } from './service-hour-store.ts';

export { indexes };

/** What this feature keeps. */
export const createStatusStores = (db: Db) => ({ hours: createServiceHourStore(db) });
