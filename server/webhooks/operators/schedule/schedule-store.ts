import type { Db, Document } from 'mongodb';
import type { ReadSchedule, ScheduleColumn, ScheduleRow } from '../../../../contracts/admin/schedule.ts';
import { givenFields, period } from '../../../platform/database/reads/look-through.ts';
import type { Delivery } from '../../delivery/delivery.ts';
import { collection as deliveryCollection } from '../../delivery/delivery-store.ts';

const mostRead = 100_000;

/** The field of a row, and its value in a delivery, for each column. */
const columns: Readonly<Record<ScheduleColumn, readonly [field: keyof ScheduleRow, value: unknown]>> = {
  minute: ['dueAt', { $dateTrunc: { date: '$nextAttemptAt', unit: 'minute' } }],
  hour: ['dueAt', { $dateTrunc: { date: '$nextAttemptAt', unit: 'hour' } }],
  partner: ['partnerId', '$partnerId'],
  key: ['keyId', '$keyId'],
  mode: ['mode', '$mode'],
  event: ['event', '$type'],
  why: ['why', '$trigger'],
  attempt: ['attempt', '$attempt'],
};

interface Group extends Omit<ScheduleRow, 'dueAt' | 'firstAt' | 'lastAt' | 'partnerName'> {
  dueAt: Date | null;
  firstAt: Date;
  lastAt: Date;
}

/** The pending deliveries of an API key. */
interface OfKey {
  _id: string;
  total: number;
  late: number;
}

/** Counts pending deliveries by the time when they are due. */
export function createScheduleStore(db: Db) {
  const deliveries = db.collection<Delivery>(deliveryCollection);

  return {
    /** The groups that are due first, and the number of all deliveries and of the late ones, for each API key. */
    async read({ by, limit, since, until, event, ...fields }: ReadSchedule, now: Date) {
      const chosen = new Map<string, unknown>(by.map((column) => columns[column]));
      const key: Document = Object.fromEntries(chosen);
      const absent = Object.fromEntries(
        Object.values(columns).flatMap(([field]) => (chosen.has(field) ? [] : [[field, null]])),
      );
      const wanted = {
        status: 'pending',
        ...givenFields({ ...fields, type: event }),
        ...period('nextAttemptAt', since, until),
      };
      const read = [{ $match: wanted }, { $sort: { nextAttemptAt: 1 } }, { $limit: mostRead }];
      const options = { hint: { nextAttemptAt: 1 } };
      const isLate = { $cond: [{ $lte: ['$nextAttemptAt', now] }, 1, 0] };
      const sums = { _id: '$keyId', total: { $sum: 1 }, late: { $sum: isLate } };
      const [rows, keys] = await Promise.all([
        deliveries
          .aggregate<Group>(
            [
              ...read,
              {
                $group: {
                  _id: key,
                  count: { $sum: 1 },
                  firstAt: { $min: '$nextAttemptAt' },
                  lastAt: { $max: '$nextAttemptAt' },
                },
              },
              { $sort: { firstAt: 1, _id: 1 } },
              { $limit: limit },
              { $replaceWith: { $mergeObjects: [absent, '$$ROOT', '$_id'] } },
              { $unset: '_id' },
            ],
            options,
          )
          .toArray(),
        deliveries.aggregate<OfKey>([...read, { $group: sums }], options).toArray(),
      ]);
      const add = (field: 'total' | 'late') => keys.reduce((sum, key) => sum + key[field], 0);
      const total = add('total');
      return { rows, keys, total, late: add('late'), exact: total < mostRead };
    },
  };
}
