import type { Db, Document } from 'mongodb';
import type { ListAuditLog } from '../../../contracts/admin/audit-log.ts';
import type { Total } from '../../../contracts/admin/references.ts';
import { type IdentifierKind, identifierKind } from '../../../contracts/identifiers.ts';
import { collection as clientCollection } from '../../partners/clients/client-store.ts';
import { integrationCollection } from '../../partners/integrations/integration-store.ts';
import { collection as keyCollection } from '../../partners/keys/key-store.ts';
import { collection as memberCollection } from '../../partners/members/member-store.ts';
import { collection as partnerCollection } from '../../partners/partner-store.ts';
import { mostMatches, queryTimeoutMs } from '../../partners/search-store.ts';
import { collection as enrollmentCollection } from '../../people/enrollments/enrollment-store.ts';
import { userCollection } from '../../people/users/identity-store.ts';
import type { AuditEntry } from '../../platform/database/audit/audit-entry.ts';
import { anyOf, type Read } from '../../platform/database/reads/joint-reads.ts';
import { countThrough } from '../../platform/database/reads/look-through.ts';
import { readPage } from '../../platform/database/reads/pages.ts';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';
import { insertMissing } from '../../platform/database/write-groups.ts';
import { ApiError } from '../../platform/errors.ts';
import { collection as bulkCollection } from '../../webhooks/bulk/bulk-store.ts';
import { collection as deliveryCollection } from '../../webhooks/delivery/delivery-store.ts';
import { collection as operatorCollection } from '../operators/operator-store.ts';
import {
  type AuditFilter,
  conditionsOf,
  type NewEntry,
  partnerOf,
  type StoredEntry,
} from './audit-entries.ts';

/** A record with audit entries that are still to be copied to the log. */
interface Outbox {
  _id: string;
  partnerId?: string;
  /** The filter of a bulk job. It may name the partner whose deliveries the job is about. */
  filter?: { partnerId?: string };
  audit: AuditEntry[];
  /** The time of the oldest entry in `audit`. Absent if there is none, so that an index finds the others. */
  auditAt?: Date;
}

export const collection = 'auditLog';
export const indexes: IndexDeclaration[] = [
  { collection, key: { at: -1, _id: -1 } },
  { collection, key: { target: 1, at: -1, _id: -1 } },
  { collection, key: { operatorId: 1, at: -1, _id: -1 } },
  { collection, key: { partnerId: 1, at: -1, _id: -1 } },
  { collection, key: { requestId: 1 } },
  // The last characters of a secret before it was replaced: `partners list --search`.
  { collection, key: { 'before.last4': 1 }, sparse: true },
  {
    ...{ collection, key: { targets: 1, at: -1, _id: -1 } },
    partialFilterExpression: { targets: { $exists: true } },
  },
  // Bulk jobs of an API key, such as a replay.
  { collection, key: { 'after.filter.keyId': 1 }, sparse: true },
];

/** The collections with documents that carry audit entries until they are copied. */
export const auditSources: readonly string[] = [
  partnerCollection,
  keyCollection,
  clientCollection,
  operatorCollection,
  enrollmentCollection,
  userCollection,
  integrationCollection,
  bulkCollection,
  memberCollection,
];
/** The collections of records that belong to a partner and are targets of calls, by the kind of their ids. */
const ownedRecords: Partial<Record<IdentifierKind, string>> = {
  apiKey: keyCollection,
  client: clientCollection,
  integration: integrationCollection,
  member: memberCollection,
  enrollment: enrollmentCollection,
  delivery: deliveryCollection,
};
/** The most documents of a collection that one read returns. */
const outboxesAtOnce = 100;
/** The query of documents with entries that were not copied yet, the oldest entries first. */
const ofWaiting = {
  // Any time is later than 1970. A condition on `auditAt` lets the query use the sparse index of records with entries.
  filter: { auditAt: { $gt: new Date(0) } },
  projection: { audit: 1, partnerId: 1, 'filter.partnerId': 1 },
  sort: { auditAt: 1 },
  limit: outboxesAtOnce,
} as const;
/** Find whether any record has an entry that was not copied yet. */
export const waitingReads: readonly Read[] = auditSources.map((source) => anyOf(source, ofWaiting.filter));

/** An entry about a secret that was replaced or removed. */
interface ReplacedSecret {
  partnerId: string;
  target: string;
  operatorName: string;
  at: Date;
}

export type AuditStore = ReturnType<typeof createAuditStore>;

export function createAuditStore(db: Db) {
  const log = db.collection<StoredEntry>(collection);

  /** Adds the partner to an entry that names only records of one partner, such as a refused call about a key. */
  async function withPartner({ id, ...entry }: NewEntry): Promise<StoredEntry> {
    const known = { _id: id, ...entry, ...partnerOf(entry) };
    const records = entry.targets ?? (entry.target === null ? [] : [entry.target]);
    const kind = identifierKind(records[0] ?? '');
    const source = kind && ownedRecords[kind];
    if (known.partnerId !== undefined || source === undefined) return known;
    const [partnerId, ...others] = await db
      .collection<Outbox>(source)
      .distinct('partnerId', { _id: { $in: records } });
    return partnerId === undefined || others.length > 0 ? known : { ...known, partnerId };
  }

  async function add(entries: readonly NewEntry[]): Promise<void> {
    await insertMissing(log, await Promise.all(entries.map(withPartner)));
  }

  /** Returns the entries of a document for the log, with the partner of the document if there is one. */
  function entriesOf({ partnerId, filter, audit }: Outbox): AuditEntry[] {
    const owner = partnerId ?? filter?.partnerId;
    return owner === undefined ? audit : audit.map((entry) => ({ ...entry, partnerId: owner }));
  }

  /** Returns the update that removes copied entries from their record. Entries added since then stay. */
  function removeCopied({ _id, audit }: Outbox) {
    const copied = audit.map(({ id }) => id);
    const rest: Document = {
      $filter: { input: '$audit', cond: { $not: { $in: ['$$this.id', { $literal: copied }] } } },
    };
    const update = [
      { $set: { audit: rest } },
      { $set: { auditAt: { $cond: [{ $eq: ['$audit', []] }, '$$REMOVE', '$auditAt'] } } },
    ];
    return { updateOne: { filter: { _id }, update } };
  }

  /** Copies the entries of a collection to the log, then removes them from their records. @returns the ids of their requests */
  async function move(source: string): Promise<string[]> {
    const outboxes = db.collection<Outbox>(source);
    const { filter, ...options } = ofWaiting;
    const requests: string[] = [];
    for (;;) {
      const records = await outboxes.find(filter, options).toArray();
      const entries = records.flatMap(entriesOf);
      await add(entries);
      if (records.length > 0) await outboxes.bulkWrite(records.map(removeCopied), { ordered: false });
      requests.push(...entries.map(({ requestId }) => requestId));
      if (records.length < outboxesAtOnce) return requests;
    }
  }

  return {
    /**
     * Finds secrets that were replaced or removed, at most `mostMatches` of them, by their last four characters. The audit log keeps those forever.
     * @returns the partner of each, and a text that names the secret
     */
    async findReplacedSecrets(lastFour: string) {
      const found = await log
        .find({ 'before.last4': lastFour, partnerId: { $exists: true } } as Document)
        .hint({ 'before.last4': 1 })
        .project<ReplacedSecret>({ partnerId: 1, target: 1, operatorName: 1, at: 1 })
        .maxTimeMS(queryTimeoutMs)
        .limit(mostMatches)
        .toArray();
      return found.map(({ partnerId, target, operatorName, at }) => ({
        partnerId,
        found: `secret of ${target} …${lastFour} until ${operatorName} replaced or removed it at ${at.toISOString()}`,
      }));
    },

    add,

    /**
     * Copies the entries that wait in documents of some collections, then removes them there. Idempotent.
     * @returns the ids of the requests whose entries were copied
     */
    async drain(sources: readonly string[]): Promise<string[]> {
      const moved = await Promise.all(sources.map(move));
      return moved.flat();
    },

    find: (id: string): Promise<StoredEntry | null> => log.findOne({ _id: id }),

    async existing(ids: readonly string[]): Promise<ReadonlySet<string>> {
      const found = await log.find({ _id: { $in: [...ids] } }, { projection: { _id: 1 } }).toArray();
      return new Set(found.map(({ _id }) => _id));
    },

    /** The entries about changes, in the log and not yet copied to it. Some may come twice. */
    async *changes(): AsyncIterable<StoredEntry> {
      yield* log.find({ outcome: { $exists: false } }).sort({ at: 1, _id: 1 });
      const { filter, projection } = ofWaiting;
      for (const source of auditSources)
        for await (const record of db.collection<Outbox>(source).find(filter, { projection }))
          for (const { id, ...entry } of entriesOf(record)) yield { _id: id, ...entry, ...partnerOf(entry) };
    },

    ofRequest: (requestId: string): Promise<StoredEntry[]> =>
      log.find({ requestId }).sort({ at: 1, _id: 1 }).toArray(),

    count: (filter: AuditFilter): Promise<Total> =>
      countThrough(log, { indexed: conditionsOf(filter), rest: {} }),

    /** Returns entries, the newest first. @throws ApiError `not_found` if the entry `after` does not exist */
    async list({
      limit,
      after,
      ...filter
    }: Omit<ListAuditLog, 'user' | 'action'> & AuditFilter): Promise<StoredEntry[]> {
      const last = after === undefined ? undefined : await log.findOne({ _id: after });
      if (after !== undefined && !last)
        throw new ApiError('not_found', { description: `No audit entry ${after}` });
      return readPage(log, conditionsOf(filter), { by: 'at', limit, after: last });
    },
  };
}
