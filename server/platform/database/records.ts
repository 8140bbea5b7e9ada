import type {
  Collection,
  Db,
  Document,
  Filter,
  OptionalUnlessRequiredId,
  UpdateFilter,
  WithId,
} from 'mongodb';
import type { Total } from '../../../contracts/admin/references.ts';
import { ApiError, requireFound, unavailable } from '../errors.ts';
import type { AuditEntry } from './audit/audit-entry.ts';
import type { JointRead } from './reads/joint-reads.ts';
import { countThrough, givenFields } from './reads/look-through.ts';
import { readPage } from './reads/pages.ts';
import type { IndexDeclaration } from './schema/indexes.ts';

export interface AuditedRecord {
  _id: string;
  createdAt: Date;
  /** Counts changes. A change applies only to the revision that it was decided on. */
  revision: number;
  /** Audit entries not yet copied to the audit log; `auditAt` is there while any is left. */
  audit: AuditEntry[];
  auditAt?: Date;
}

export type NewRecord<R extends AuditedRecord> = Omit<R, 'revision' | 'audit' | 'auditAt'>;

/** A change of a record. The fields of `set` are replaced; an undefined one is removed. */
export interface Change<R extends AuditedRecord> {
  set: { [Field in keyof Omit<R, keyof AuditedRecord>]?: R[Field] | undefined };
  entry: AuditEntry;
}

/** Which page of a list to read. */
interface PageRequest {
  limit: number;
  /** The `_id` of the last record of the page before. */
  after?: string | undefined;
}

/** Values of fields, and conditions that must not hold. An undefined value is not a condition. */
export type RecordFilter<R> = { [Field in keyof R]?: R[Field] | undefined } & {
  $nor?: Document[] | undefined;
};

export type RecordStore<R extends AuditedRecord> = ReturnType<typeof createRecordStore<R>>;

/** The most audit entries that may wait in a record. More mean that copying them to the audit log is broken. */
const longestOutbox = 20;
/** How often a change is tried when concurrent changes make it fail. */
const maxConflictTries = 5;

/** Indexes of a collection of audited records: for lists, and for audit entries that wait to be copied. */
export function recordIndexes(collection: string): IndexDeclaration[] {
  return [
    { collection, key: { createdAt: -1, _id: -1 } },
    { collection, key: { auditAt: 1 }, sparse: true },
  ];
}

/**
 * As `findAll` of a record store, in a command that is shared with simultaneous reads of other collections. All records have to
 * fit into one reply.
 */
export const createFindTogether =
  <R extends AuditedRecord>(read: JointRead, collection: string) =>
  async (ids: readonly string[]): Promise<(R | undefined)[]> =>
    inOrderOf(ids, await read<R>({ collection, filter: { _id: { $in: [...new Set(ids)] } } }));

function inOrderOf<R extends AuditedRecord>(ids: readonly string[], found: readonly R[]): (R | undefined)[] {
  const byId = new Map(found.map((record) => [record._id, record]));
  return ids.map((id) => byId.get(id));
}

/** Returns the update for a change. It also counts the change and adds its audit entry. */
function toUpdate<R extends AuditedRecord>({ set, entry }: Change<R>): UpdateFilter<R> {
  const replaced: Document = { auditAt: entry.at };
  const removed: Document = {};
  for (const [name, value] of Object.entries(set)) {
    if (value === undefined) removed[name] = '';
    else replaced[name] = value;
  }
  const changes: Document = { $set: replaced, $inc: { revision: 1 }, $push: { audit: entry } };
  // Not every server that speaks the protocol accepts an empty `$unset`.
  if (Object.keys(removed).length > 0) changes['$unset'] = removed;
  return changes as UpdateFilter<R>;
}

/**
 * A store of records in which each change contains its audit entry.
 * @param collection name of the collection
 * @param noun the word for one record in messages, for instance `partner`
 */
export function createRecordStore<R extends AuditedRecord>(db: Db, collection: string, noun: string) {
  const records: Collection<R> = db.collection<R>(collection);
  const asFilter = (filter: Document): Filter<R> => filter as Filter<R>;
  const asRecord = (found: WithId<R> | null): R | undefined => (found ? (found as unknown as R) : undefined);

  async function find(id: string): Promise<R | undefined> {
    return asRecord(await records.findOne(asFilter({ _id: id })));
  }

  /** @throws ApiError `not_found` */
  const get = async (id: string): Promise<R> => requireFound(await find(id), `No ${noun} ${id}`);

  /**
   * Changes one record and writes the audit entry with it, in one step. `decide` may run again after a
   * concurrent change. If it returns undefined, nothing is written.
   * @throws ApiError `not_found`, every error of `decide`, `conflict` after too many concurrent changes
   */
  async function change(
    id: string,
    decide: (current: R) => Change<R> | undefined | Promise<Change<R> | undefined>,
  ): Promise<R> {
    for (let tries = 0; tries < maxConflictTries; tries += 1) {
      const current = await get(id);
      const wanted = await decide(current);
      if (!wanted) return current;
      if (current.audit.length >= longestOutbox)
        throw unavailable(new Error(`audit outbox of ${id} is full`));
      const changed = await records.findOneAndUpdate(
        asFilter({ _id: id, revision: current.revision }),
        toUpdate(wanted),
        { returnDocument: 'after' },
      );
      const record = asRecord(changed);
      if (record) return record;
      // A concurrent change has increased the revision, so the change is decided again on the new state.
    }
    throw new ApiError('conflict', { description: `Another operator is changing this ${noun}; try again` });
  }

  return {
    async insert(fields: NewRecord<R>, entry: AuditEntry): Promise<R> {
      const record = { ...fields, revision: 1, audit: [entry], auditAt: entry.at } as unknown as R;
      await records.insertOne(record as OptionalUnlessRequiredId<R>);
      return record;
    },

    find,
    get,

    /** Finds records in one round trip, in the order of `ids`; undefined for an id that does not exist. */
    async findAll(ids: readonly string[]): Promise<(R | undefined)[]> {
      if (ids.length === 0) return [];
      const found = (await records
        .find(asFilter({ _id: { $in: [...new Set(ids)] } }))
        .toArray()) as unknown as R[];
      return inOrderOf(ids, found);
    },

    /** Newest first. @throws ApiError `not_found` if `after` does not exist */
    async list(filter: RecordFilter<R>, { limit, after }: PageRequest): Promise<R[]> {
      const last = after === undefined ? undefined : await get(after);
      return readPage(records, givenFields(filter), { limit, after: last });
    },

    count: (filter: RecordFilter<R>): Promise<Total> =>
      countThrough(records, { indexed: givenFields(filter), rest: {} }),

    change,
  };
}
