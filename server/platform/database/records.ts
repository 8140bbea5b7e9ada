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
import { ApiError, unavailable } from '../errors.ts';
import type { AuditEntry } from './audit-entry.ts';
import type { IndexDeclaration } from './indexes.ts';
import { countThrough, givenFields } from './look-through.ts';
import { readPage } from './pages.ts';

/** What every audited record holds besides its own fields. */
export interface AuditedRecord {
  _id: string;
  createdAt: Date;
  /** Counts changes: a change applies only to the record that it was decided on. */
  revision: number;
  /** Audit entries not yet copied to the audit log; `auditAt` is there while any is left. */
  audit: AuditEntry[];
  auditAt?: Date;
}

/** A record's own fields, as a caller gives them for a new one. */
export type NewRecord<R extends AuditedRecord> = Omit<R, 'revision' | 'audit' | 'auditAt'>;

/** `set` fields replace, an undefined one is removed. */
export interface Change<R extends AuditedRecord> {
  set: { [Field in keyof Omit<R, keyof AuditedRecord>]?: R[Field] | undefined };
  entry: AuditEntry;
}

export interface Page {
  limit: number;
  /** The `_id` after which the page begins. */
  after?: string | undefined;
}

/** Fields by their value, and conditions of which none holds; those that are undefined do not narrow. */
export type RecordFilter<R> = { [Field in keyof R]?: R[Field] | undefined } & {
  $nor?: Document[] | undefined;
};

export interface RecordStore<R extends AuditedRecord> {
  insert(record: NewRecord<R>, entry: AuditEntry): Promise<R>;
  find(id: string): Promise<R | undefined>;
  /** In the order of `ids`; undefined where there is none. One round trip. */
  findAll(ids: readonly string[]): Promise<(R | undefined)[]>;
  /** Newest first. @throws ApiError `not_found` where `after` does not exist */
  list(filter: RecordFilter<R>, page: Page): Promise<R[]>;
  count(filter: RecordFilter<R>): Promise<Total>;
  /**
   * Changes one record and writes the audit entry with it, in one step. `decide` may run again after a
   * concurrent change. If it returns undefined, nothing is written.
   * @throws ApiError `not_found`, whatever `decide` throws, `conflict` after too many concurrent changes
   */
  change(id: string, decide: (current: R) => Change<R> | undefined): Promise<R>;
}

/** Entries that wait in one record until they are copied; more than this means that copying is broken. */
const longestOutbox = 20;
/** Tries of a change that concurrent changes make fail. */
const maxConflictTries = 5;

/** Indexes of a collection of audited records: the order of lists, and the outboxes left to copy. */
export function recordIndexes(collection: string): IndexDeclaration[] {
  return [
    { collection, key: { createdAt: -1, _id: -1 } },
    { collection, key: { auditAt: 1 }, sparse: true },
  ];
}

function toUpdate<R extends AuditedRecord>({ set, entry }: Change<R>): UpdateFilter<R> {
  const fields = Object.entries(set);
  const removed = fields.filter(([, value]) => value === undefined).map(([name]) => [name, ''] as const);
  return {
    $set: { ...Object.fromEntries(fields.filter(([, value]) => value !== undefined)), auditAt: entry.at },
    ...(removed.length > 0 ? { $unset: Object.fromEntries(removed) } : {}),
    $inc: { revision: 1 },
    $push: { audit: entry },
  } as unknown as UpdateFilter<R>;
}

/**
 * Records whose every change carries its audit entry.
 * @param collection where they are kept
 * @param noun what one of them is called in messages, for instance `partner`
 */
export function createRecordStore<R extends AuditedRecord>(
  db: Db,
  collection: string,
  noun: string,
): RecordStore<R> {
  const records: Collection<R> = db.collection<R>(collection);
  const where = (filter: Document): Filter<R> => filter as Filter<R>;
  const plain = (found: WithId<R> | null): R | undefined => (found ? (found as unknown as R) : undefined);

  async function find(id: string): Promise<R | undefined> {
    return plain(await records.findOne(where({ _id: id })));
  }

  async function existing(id: string): Promise<R> {
    const found = await find(id);
    if (!found) throw new ApiError('not_found', { description: `No ${noun} ${id}` });
    return found;
  }

  async function change(id: string, decide: (current: R) => Change<R> | undefined): Promise<R> {
    for (let tries = 0; tries < maxConflictTries; tries += 1) {
      const current = await existing(id);
      const wanted = decide(current);
      if (!wanted) return current;
      if (current.audit.length >= longestOutbox)
        throw unavailable(new Error(`audit outbox of ${id} is full`));
      const changed = await records.findOneAndUpdate(
        where({ _id: id, revision: current.revision }),
        toUpdate(wanted),
        { returnDocument: 'after' },
      );
      const record = plain(changed);
      if (record) return record;
    }
    throw new ApiError('conflict', { description: `Another operator is changing this ${noun}; try again` });
  }

  return {
    async insert(fields, entry) {
      const record = { ...fields, revision: 1, audit: [entry], auditAt: entry.at } as unknown as R;
      await records.insertOne(record as OptionalUnlessRequiredId<R>);
      return record;
    },

    find,

    async findAll(ids) {
      const found = (await records
        .find(where({ _id: { $in: [...new Set(ids)] } }))
        .toArray()) as unknown as R[];
      const byId = new Map(found.map((record) => [record._id, record]));
      return ids.map((id) => byId.get(id));
    },

    async list(filter, { limit, after }) {
      const last = after === undefined ? undefined : await existing(after);
      return readPage(records, givenFields(filter), { limit, after: last });
    },

    count: (filter) => countThrough(records, { indexed: givenFields(filter), rest: {} }),

    change,
  };
}
