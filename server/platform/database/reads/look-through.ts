import type { Collection, Document, Filter } from 'mongodb';
import type { Total } from '../../../../contracts/admin/references.ts';

const mostSearched = 20_000;
const mostCounted = 100_000;

/** A search of the newest records first. */
interface Search {
  /** The conditions that an index serves. */
  indexed: Document;
  /** This index, for the planner, which might choose a worse one. */
  hint: Document;
  /** The other conditions, which are tested on each record that is read. */
  rest: Document;
  /** The time field that the records are sorted by. */
  by: string;
  /** The last record of the page before. */
  after?: Document | undefined;
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
 * Divides a filter by the index that serves it best. An index on a selective field comes first, then one on another field
 * and the time, then the one on the time alone.
 * @param fields `selective`: an index on the field alone suffices, because few records share a value. `sorted`: the index on
 * the field continues with the time and the id
 * @param by the time field
 */
export function divideFilter(
  filter: Document,
  fields: { selective: readonly string[]; sorted: readonly string[] },
  by: string,
): Division {
  const conditions = Object.entries(givenFields(filter));
  const isGiven = (field: string) => filter[field] !== undefined;
  /** @param served the fields whose conditions the index `hint` serves */
  function divideBy(served: readonly string[], hint: Document): Division {
    const isServed = ([field]: [string, unknown]) => served.includes(field);
    const rest = conditions.filter((condition) => !isServed(condition));
    return { indexed: Object.fromEntries(conditions.filter(isServed)), hint, rest: Object.fromEntries(rest) };
  }

  const selective = fields.selective.find(isGiven);
  if (selective !== undefined) return divideBy([selective], { [selective]: 1 });
  const newestFirst = { [by]: -1, _id: -1 };
  const sorted = fields.sorted.find(isGiven);
  if (sorted !== undefined) return divideBy([sorted, by], { [sorted]: 1, ...newestFirst });
  return divideBy([by], newestFirst);
}

/** Counts records. Reads at most `most` of them, by default 100,000; `exact` is false if there are more. */
export async function countThrough<Row extends Document>(
  collection: Collection<Row>,
  { indexed, hint, rest, most = mostCounted }: Division & Pick<Search, 'most'>,
): Promise<Total> {
  // Without a condition, the planner would read the documents. The index on `_id`, which every collection has, suffices.
  const isUnconditional = Object.keys(indexed).length === 0;
  const index = hint ?? (isUnconditional ? { _id: 1 } : undefined);
  const options = index ? { hint: index } : {};
  // One record more than `most` shows that there are more.
  const readCount = await collection.countDocuments(indexed as Filter<Row>, { ...options, limit: most + 1 });
  const exact = readCount <= most;
  if (Object.keys(rest).length === 0) return { total: Math.min(readCount, most), exact };
  const [found] = await collection
    .aggregate<{ total: number }>(
      [{ $match: indexed }, { $limit: most }, { $match: rest }, { $count: 'total' }],
      options,
    )
    .toArray();
  return { total: found?.total ?? 0, exact };
}

/** Searches the newest records. With conditions that no index serves, it reads at most `most` records to fill one page. */
export async function lookThrough<Row extends Document>(
  collection: Collection<Row>,
  search: Search,
): Promise<Found<Row>> {
  const { indexed, hint, rest, by, after, limit, most = mostSearched } = search;
  const newestFirst = [
    { $match: { $and: [indexed, afterRecord(by, after)] } },
    { $sort: { [by]: -1, _id: -1 } },
  ];
  const read = <T extends Document>(stages: readonly Document[]): Promise<T[]> =>
    collection.aggregate<T>([...newestFirst, ...stages], { hint }).toArray();

  if (Object.keys(rest).length === 0)
    return { rows: await read<Row>([{ $limit: limit }]), stoppedAfter: null };

  const rows = await read<Row>([{ $limit: most }, { $match: rest }, { $limit: limit }]);
  if (rows.length === limit) return { rows, stoppedAfter: null };
  // The page is not full. If there are at least `most` records, the search has stopped after that many.
  const [lastRead] = await read<{ _id: string }>([
    { $project: { _id: 1 } },
    { $skip: most - 1 },
    { $limit: 1 },
  ]);
  return { rows, stoppedAfter: lastRead?._id ?? null };
}

/** The condition for records that follow `after`, in the order from the newest to the oldest. */
function afterRecord(by: string, after: Search['after']): Document {
  if (!after) return {};
  return {
    // By this condition, which has no alternatives, the database skips the index entries of the earlier pages.
    [by]: { $lte: after[by] },
    // Records with the same time are in the order of their ids.
    $or: [{ [by]: { $lt: after[by] } }, { _id: { $lt: after['_id'] } }],
  };
}
