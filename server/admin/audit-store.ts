import type { Db, Document } from 'mongodb';
import type { ListAuditLog } from '../../contracts/admin/audit-log.ts';
import type { AuditEntry } from '../platform/audit-entry.ts';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import { ApiError } from '../platform/errors.ts';

/** An entry of the log. Entries are only ever added. */
export type StoredEntry = Omit<NewEntry, 'id'> & { _id: string };

type NewEntry = Omit<AuditEntry, 'target'> & { target: string | null; input?: Record<string, unknown> };

interface Outbox {
  _id: string;
  audit: AuditEntry[];
  auditAt?: Date;
}

const collection = 'auditLog';
export const indexes: IndexDeclaration[] = [
  { collection, key: { at: -1, _id: -1 } },
  { collection, key: { target: 1, at: -1 } },
  { collection, key: { operatorId: 1, at: -1 } },
  { collection, key: { requestId: 1 } },
];

const outboxesPerSweep = 100;

export type AuditStore = ReturnType<typeof createAuditStore>;

export function createAuditStore(db: Db) {
  const log = db.collection<StoredEntry>(collection);

  async function add(entries: readonly NewEntry[]): Promise<void> {
    const operations = entries.map(({ id, ...entry }) => ({
      updateOne: { filter: { _id: id }, update: { $setOnInsert: entry }, upsert: true },
    }));
    if (operations.length > 0) await log.bulkWrite(operations, { ordered: false });
  }

  async function empty(source: string, { _id, audit }: Outbox): Promise<void> {
    await add(audit);
    const copied = audit.map(({ id }) => id);
    const rest: Document = {
      $filter: { input: '$audit', cond: { $not: { $in: ['$$this.id', { $literal: copied }] } } },
    };
    await db
      .collection<Outbox>(source)
      .updateOne({ _id }, [
        { $set: { audit: rest } },
        { $set: { auditAt: { $cond: [{ $eq: ['$audit', []] }, '$$REMOVE', '$auditAt'] } } },
      ]);
  }

  return {
    add,

    /** Copies the entries that wait in the documents of `source`, then removes them there. Twice is once. */
    async drain(source: string): Promise<void> {
      const waiting = await db
        .collection<Outbox>(source)
        .find(
          { auditAt: { $gt: new Date(0) } },
          { projection: { audit: 1 }, sort: { auditAt: 1 }, limit: outboxesPerSweep },
        )
        .toArray();
      for (const outbox of waiting) await empty(source, outbox);
    },

    ofRequest: (requestId: string): Promise<StoredEntry[]> =>
      log.find({ requestId }).sort({ at: 1, _id: 1 }).toArray(),

    /** Newest first. @throws ApiError `not_found` where `after` does not exist */
    async list({ target, actor, action, since, limit, after }: ListAuditLog): Promise<StoredEntry[]> {
      const last = after === undefined ? undefined : await log.findOne({ _id: after });
      if (last === null) throw new ApiError('not_found', { description: `No audit entry ${after ?? ''}` });
      const conditions: Document[] = [
        ...(target ? [{ target }] : []),
        ...(action ? [{ action }] : []),
        ...(actor ? [{ $or: [{ operatorId: actor }, { operatorName: actor }] }] : []),
        ...(since ? [{ at: { $gte: new Date(since) } }] : []),
        ...(last ? [{ $or: [{ at: { $lt: last.at } }, { at: last.at, _id: { $lt: last._id } }] }] : []),
      ];
      return log
        .find(conditions.length > 0 ? { $and: conditions } : {})
        .sort({ at: -1, _id: -1 })
        .limit(limit)
        .toArray();
    },
  };
}
