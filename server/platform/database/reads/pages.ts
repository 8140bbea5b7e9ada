import type { Collection, Document, Filter } from 'mongodb';

/** A page of a list by `createdAt`. `after` is the last record of the page before. */
export interface Page {
  limit: number;
  after?: { _id: string; createdAt: Date } | undefined;
}

interface PageSettings {
  /** Whether the oldest record comes first. By default, the newest comes first. */
  oldestFirst?: boolean;
  limit: number;
  /** The last record of the page before. */
  after?: Document | null | undefined;
  /** The field with the time. The default is `createdAt`. */
  by?: string;
  /** The index to use, if the planner might choose a worse one. */
  hint?: Document;
}

/** Reads one page of the records that match a filter. Records with the same time are in the order of their ids. */
export async function readPage<R extends { _id: string }>(
  collection: Collection<R>,
  filter: Document,
  { oldestFirst = false, limit, after, by = 'createdAt', hint }: PageSettings,
): Promise<R[]> {
  const [direction, operator] = oldestFirst ? ([1, '$gt'] as const) : ([-1, '$lt'] as const);
  const afterLast = after && {
    $or: [{ [by]: { [operator]: after[by] } }, { [by]: after[by], _id: { [operator]: after['_id'] } }],
  };
  const wanted = (afterLast ? { $and: [filter, afterLast] } : filter) as Filter<R>;
  const found = await collection
    .find(wanted, hint ? { hint } : {})
    .sort({ [by]: direction, _id: direction })
    .limit(limit)
    .toArray();
  return found as unknown as R[];
}
