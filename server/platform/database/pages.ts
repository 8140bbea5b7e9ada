import type { Collection, Document, Filter } from 'mongodb';

/** A page of a list by `createdAt`; `after`: the last record of the page before. */
export interface Page {
  limit: number;
  after?: { _id: string; createdAt: Date } | undefined;
}

/** One page of a list by time. */
interface Wanted {
  /** Default: the newest first. */
  oldestFirst?: boolean;
  limit: number;
  /** The last record of the page before. */
  after?: Document | null | undefined;
  /** The field of the time; default `createdAt`. */
  by?: string;
  /** The index to use, where the planner may choose a worse one. */
  hint?: Document;
}

/** Reads one page of the records that match. Records of one moment are in the order of their ids. */
export async function readPage<R extends { _id: string }>(
  collection: Collection<R>,
  filter: Document,
  { oldestFirst = false, limit, after, by = 'createdAt', hint }: Wanted,
): Promise<R[]> {
  const [direction, beyond] = oldestFirst ? ([1, '$gt'] as const) : ([-1, '$lt'] as const);
  const rest = after && {
    $or: [{ [by]: { [beyond]: after[by] } }, { [by]: after[by], _id: { [beyond]: after['_id'] } }],
  };
  const wanted = (rest ? { $and: [filter, rest] } : filter) as Filter<R>;
  const found = await collection
    .find(wanted, hint ? { hint } : {})
    .sort({ [by]: direction, _id: direction })
    .limit(limit)
    .toArray();
  return found as unknown as R[];
}
