import type { Collection, Document } from 'mongodb';

/** Records that one search reads at most. */
const mostLookedThrough = 20_000;

/** A search of the newest records first. */
interface Search {
  /** The condition that an index serves, and that index: the planner may choose a worse one. */
  indexed: Document;
  hint: Document;
  /** The condition that no index serves. */
  rest: Document;
  /** The field of the time that they are sorted by. */
  by: string;
  /** The record before the first one. */
  after?: { _id: string; at: Date } | undefined;
  limit: number;
  /** Default: 20,000. */
  most?: number | undefined;
}

/** `stoppedAfter`: the last record that was read, if there are more. */
export interface Found<Row> {
  rows: Row[];
  stoppedAfter: string | null;
}

/** A condition on a time, from `since` on and before `until`; empty without both. */
export function period(by: string, since: string | undefined, until: string | undefined): Document {
  const from = since === undefined ? {} : { $gte: new Date(since) };
  const to = until === undefined ? {} : { $lt: new Date(until) };
  return since === undefined && until === undefined ? {} : { [by]: { ...from, ...to } };
}

/** Only the given fields: a filter without those that are undefined. */
export const givenFields = (fields: Document): Document =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** Searches the newest records, and reads a bounded number of them. */
export async function lookThrough<Row extends Document>(
  collection: Collection<Row>,
  search: Search,
): Promise<Found<Row>> {
  const { indexed, hint, rest, by, after, limit, most = mostLookedThrough } = search;
  const beyond = after && {
    [by]: { $lte: after.at },
    $or: [{ [by]: { $lt: after.at } }, { _id: { $lt: after._id } }],
  };
  const range = { $and: [indexed, beyond ?? {}] };
  const newestFirst = { [by]: -1, _id: -1 };
  const rows = await collection
    .aggregate<Row>(
      [
        { $match: range },
        { $sort: newestFirst },
        { $limit: Object.keys(rest).length > 0 ? most : limit },
        { $match: rest },
        { $limit: limit },
      ],
      { hint },
    )
    .toArray();
  if (rows.length === limit || Object.keys(rest).length === 0) return { rows, stoppedAfter: null };
  const [last] = await collection
    .aggregate<{ _id: string }>(
      [
        { $match: range },
        { $sort: newestFirst },
        { $project: { _id: 1 } },
        { $skip: most - 1 },
        { $limit: 1 },
      ],
      { hint },
    )
    .toArray();
  return { rows, stoppedAfter: last?._id ?? null };
}
