import type { Collection, Document, Filter } from 'mongodb';
import type { Total } from '../../../contracts/admin/references.ts';

/** The most records that one search reads. */
const mostSearched = 20_000;
/** The most records that one count reads. */
const mostCounted = 100_000;

/** A search of the newest records first. */
interface Search {
  /** The condition that an index serves, and this index as a hint, because the planner may choose a worse one. */
  indexed: Document;
  hint: Document;
  /** The condition that no index serves. */
  rest: Document;
  /** The time field that the records are sorted by. */
  by: string;
  /** The record before the first one. */
  after?: { _id: string; at: Date } | undefined;
  limit: number;
  /** The most records to read; default 20,000. */
  most?: number | undefined;
}

/** `stoppedAfter`: the id of the last record that was read, if the search stopped before the end; else null. */
export interface Found<Row> {
  rows: Row[];
  stoppedAfter: string | null;
}

/** A condition on a time, from `since` on and before `until`; empty without both. */
export function period(by: string, since: string | undefined, until: string | undefined): Document {
  const bounds: Document = {};
  if (since !== undefined) bounds['$gte'] = new Date(since);
  if (until !== undefined) bounds['$lt'] = new Date(until);
  return Object.keys(bounds).length === 0 ? {} : { [by]: bounds };
}

/** Returns the fields that are not undefined. */
export const givenFields = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]: Exclude<T[Name], undefined>;
  };

/** A filter in two parts: the conditions that an index serves, with this index, and the rest. */
type Division = Pick<Search, 'indexed' | 'rest'> & { hint?: Document };

/**
 * Divides a filter by the first index that serves one of its fields.
 * @param fields indexed fields. `selective`: few records share a value. `sorted`: the index is also sorted by `by`
 */
export function divideFilter(
  filter: Document,
  fields: { selective: readonly string[]; sorted: readonly string[] },
  by: string,
): Division {
  const has = (name: string): boolean => filter[name] !== undefined;
  const selective = fields.selective.find(has);
  if (selective !== undefined) {
    const { [selective]: value, ...rest } = filter;
    return { indexed: { [selective]: value }, hint: { [selective]: 1 }, rest };
  }
  const sorted = fields.sorted.find(has);
  const { [by]: time, ...others } = filter;
  const period = time === undefined ? {} : { [by]: time };
  const newestFirst = { [by]: -1, _id: -1 };
  if (sorted === undefined) return { indexed: period, hint: newestFirst, rest: others };
  const { [sorted]: value, ...rest } = others;
  return { indexed: { [sorted]: value, ...period }, hint: { [sorted]: 1, ...newestFirst }, rest };
}

/** Counts records. Reads at most `most` of them, by default 100,000; `exact` is false if there are more. */
export async function countThrough<Row extends Document>(
  collection: Collection<Row>,
  { indexed, hint, rest, most = mostCounted }: Division & Pick<Search, 'most'>,
): Promise<Total> {
  // Without a condition, the count uses the index that every collection has.
  const hasCondition = Object.keys(indexed).length > 0;
  const index = hint ?? (hasCondition ? undefined : { _id: 1 });
  const options = index ? { hint: index } : {};
  const read = await collection.countDocuments(indexed as Filter<Row>, { ...options, limit: most + 1 });
  const exact = read <= most;
  if (Object.keys(rest).length === 0) return { total: Math.min(read, most), exact };
  const [found] = await collection
    .aggregate<{ total: number }>(
      [{ $match: indexed }, { $limit: most }, { $match: rest }, { $count: 'total' }],
      options,
    )
    .toArray();
  return { total: found?.total ?? 0, exact };
}

/** Searches the newest records, and reads a bounded number of them. */
export async function lookThrough<Row extends Document>(
  collection: Collection<Row>,
  search: Search,
): Promise<Found<Row>> {
  const { indexed, hint, rest, by, after, limit, most = mostSearched } = search;
  const hasRest = Object.keys(rest).length > 0;
  const newest = [{ $match: { $and: [indexed, afterRecord(by, after)] } }, { $sort: { [by]: -1, _id: -1 } }];
  const rows = await collection
    .aggregate<Row>([...newest, { $limit: hasRest ? most : limit }, { $match: rest }, { $limit: limit }], {
      hint,
    })
    .toArray();
  if (rows.length === limit || !hasRest) return { rows, stoppedAfter: null };
  const [lastRead] = await collection
    .aggregate<{ _id: string }>([...newest, { $project: { _id: 1 } }, { $skip: most - 1 }, { $limit: 1 }], {
      hint,
    })
    .toArray();
  return { rows, stoppedAfter: lastRead?._id ?? null };
}

/** The condition for records that follow `after`, in the order from the newest to the oldest. */
function afterRecord(by: string, after: Search['after']): Document {
  if (!after) return {};
  return {
    [by]: { $lte: after.at },
    $or: [{ [by]: { $lt: after.at } }, { _id: { $lt: after._id } }],
  };
}
