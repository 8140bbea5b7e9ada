import type { Db, UpdateFilter } from 'mongodb';
import type { Total } from '../../../contracts/admin/references.ts';
import type { ClaimName } from '../../../contracts/claims.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { Rehearsal } from '../../../contracts/verification.ts';
import { createGroupCommit } from '../../platform/batching/group-commit.ts';
import type { AuditEntry } from '../../platform/database/audit-entry.ts';
import { isDuplicateKey } from '../../platform/database/failures.ts';
import type { IndexDeclaration } from '../../platform/database/indexes.ts';
import { countThrough, divideFilter } from '../../platform/database/look-through.ts';
import { readPage } from '../../platform/database/pages.ts';
import type { ShardDeclaration } from '../../platform/database/sharding.ts';
import { insertEach } from '../../platform/database/write-groups.ts';
import { ApiError } from '../../platform/errors.ts';
import {
  type Invalidations,
  invalidationIndex,
  invalidationsOf,
  type SnapshotOwner,
} from './invalidation-store.ts';

/** A user's relation to one client. It is created when the user first authenticates with the client (interface 2.10). */
export interface Enrollment extends SnapshotOwner {
  partnerId: string;
  clientId: string;
  keyId: string;
  mode: Mode;
  userId: string;
  sub: string;
  status: 'active' | 'blocked';
  blockReason?: string;
  /** When the enrollment was last blocked. An unblock keeps this time. */
  blockedAt?: Date;
  /** Sandbox people only: the outcome that the exchange of their code rehearses. */
  rehearse?: Rehearsal;
  consentedClaims: ClaimName[];
  /** When the user last withdrew the consent. Earlier consent has no effect. */
  withdrawnAt?: Date;
  /** The session that made the enrollment. In all others, the user is a returning user. */
  firstSession: string;
  customerHash?: string;
  createdAt: Date;
  /** When the enrollment is deleted; absent if it is kept. */
  purgeAt?: Date;
  /** Audit entries not yet copied to the audit log; `auditAt` is there while any is left. */
  audit: AuditEntry[];
  auditAt?: Date;
}

const collection = 'enrollments';
export const indexes: IndexDeclaration[] = [
  { collection, key: { partnerId: 1, createdAt: -1, _id: -1 } },
  { collection, key: { sub: 1 } },
  { collection, key: { userId: 1 } },
  { collection, key: { customerHash: 1 }, sparse: true },
  { collection, key: { auditAt: 1 }, sparse: true },
  { collection, key: { purgeAt: 1 }, sparse: true, expireAfterSeconds: 0 },
  invalidationIndex(collection),
];
/** `_id` is derived from client and user, so no other unique index is needed. */
export const shardKey: ShardDeclaration = { collection, key: { _id: 1 } };

export interface EnrollmentStore {
  /**
   * Makes the enrollment, or adds its consented claims to the existing one. A consent that was withdrawn since adds
   * nothing. Idempotent.
   * @param how.exists whether the caller has found an enrollment, so that an insert would be in vain
   */
  enroll(enrollment: Enrollment, how: { exists: boolean; consentedAt: Date }): Promise<Enrollment>;
  find(id: string): Promise<Enrollment | undefined>;
  /** The enrollments with these ids that exist. */
  findAll(ids: readonly string[]): Promise<Enrollment[]>;
  invalidations: Invalidations<Enrollment>;
  /** Newest first; the page begins after `after`. */
  list(
    filter: { partnerId: string; sub?: string },
    page: { limit: number; after?: Enrollment | undefined },
  ): Promise<Enrollment[]>;
  count(filter: { partnerId: string; sub?: string }): Promise<Total>;
  ofUser(userId: string): Promise<Enrollment[]>;
  /** The enrollments with a pairwise subject, which are all of one partner. */
  ofSubject(sub: string): Promise<Enrollment[]>;
  ofCustomer(customerHash: string): Promise<Enrollment[]>;
  /** The id of the user with this pairwise subject. */
  userOfSubject(sub: string): Promise<string | undefined>;
  /** Changes when the enrollments of a user are deleted, except those that are kept for ever. */
  keepUntil(userId: string, until: Date): Promise<void>;
  /** Keeps those with an audit entry that is not copied to the audit log yet. */
  remove(ids: readonly string[]): Promise<void>;
  /**
   * The caller must then invalidate the claims snapshots of the enrollment's sessions.
   * @param how.entry the audit entry of an operator
   * @throws ApiError `not_found`
   */
  block(id: string, how: { reason: string; at: Date; entry?: AuditEntry | undefined }): Promise<Enrollment>;
  /** @throws ApiError `not_found` */
  unblock(id: string, entry: AuditEntry): Promise<Enrollment>;
  /**
   * Ends the consent of an enrollment. The caller must then invalidate the claims snapshots of its sessions, and end
   * its accesses.
   * @returns undefined if the enrollment does not exist any more
   */
  withdraw(enrollment: Enrollment, at: Date, entry: AuditEntry): Promise<Enrollment | undefined>;
  /** Stores the hash of the shop's customer id for this user. A later one replaces it. */
  rememberCustomer(id: string, customerHash: string): Promise<void>;
}

/** Whether the user has withdrawn the consent that was given at `consentedAt`. Without a consent, there is none left. */
export const isWithdrawn = (
  { withdrawnAt }: Pick<Enrollment, 'withdrawnAt'>,
  { consentedAt }: { consentedAt?: Date },
): boolean => withdrawnAt !== undefined && (consentedAt === undefined || consentedAt <= withdrawnAt);

/** The most enrollments that a query for one person reads. */
const mostPerPerson = 1_000;

/** A change with an audit entry stores it in the enrollment. `auditAt` marks it for the copy to the audit log. */
const auditDue = (entry?: AuditEntry) => (entry ? { auditAt: entry.at } : {});
const pushAudit = (entry?: AuditEntry) => (entry ? { $push: { audit: entry } } : {});

export function createEnrollmentStore(db: Db): EnrollmentStore {
  const enrollments = db.collection<Enrollment>(collection);

  /**
   * Adds the consented claims to the enrollment, or inserts it. An enrollment whose consent was withdrawn at
   * `consentedAt` or later does not match, so the database tries to insert a second one.
   * @throws a duplicate key error then, or if another request inserts the enrollment at the same time
   */
  async function upsert(
    { _id, consentedClaims, ...fields }: Enrollment,
    consentedAt: Date,
  ): Promise<Enrollment> {
    const enrolled = await enrollments.findOneAndUpdate(
      { _id, withdrawnAt: { $not: { $gte: consentedAt } } },
      { $setOnInsert: fields, $addToSet: { consentedClaims: { $each: consentedClaims } } },
      { upsert: true, returnDocument: 'after' },
    );
    if (!enrolled) throw new Error('an upsert returned no enrollment');
    return enrolled;
  }

  async function update(id: string, change: UpdateFilter<Enrollment>): Promise<Enrollment> {
    const updated = await enrollments.findOneAndUpdate({ _id: id }, change, { returnDocument: 'after' });
    if (!updated) throw new ApiError('not_found', { description: `No enrollment ${id}` });
    return updated;
  }

  /** Resolves to whether the enrollment was inserted. */
  const insert = createGroupCommit<Enrollment, boolean>({
    async run(batch) {
      const results = await insertEach(enrollments, batch);
      return results.map((result) => (result instanceof Error ? result : result === 'inserted'));
    },
  });

  return {
    async enroll(enrollment, { exists, consentedAt }) {
      if (!exists && (await insert(enrollment))) return enrollment;
      try {
        return await upsert(enrollment, consentedAt);
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        const existing = await enrollments.findOne({ _id: enrollment._id });
        if (existing && isWithdrawn(existing, { consentedAt })) return existing;
        // Another request has just inserted the enrollment, so now it matches.
        return upsert(enrollment, consentedAt);
      }
    },

    find: async (id) => (await enrollments.findOne({ _id: id })) ?? undefined,

    findAll: (ids) => enrollments.find({ _id: { $in: [...ids] } }).toArray(),

    invalidations: invalidationsOf(enrollments),

    list: (filter, page) => readPage(enrollments, filter, page),

    // Few enrollments share a `sub`. Without one, the index of the partner is used, which is sorted by time.
    count: (filter) =>
      countThrough(
        enrollments,
        divideFilter(filter, { selective: ['sub'], sorted: ['partnerId'] }, 'createdAt'),
      ),

    ofUser: (userId) => enrollments.find({ userId }).sort({ createdAt: 1 }).toArray(),

    ofSubject: (sub) => enrollments.find({ sub }).limit(mostPerPerson).toArray(),

    ofCustomer: (customerHash) => enrollments.find({ customerHash }).limit(mostPerPerson).toArray(),

    userOfSubject: async (sub) => (await enrollments.findOne({ sub }, { projection: { userId: 1 } }))?.userId,

    // An enrollment without `purgeAt` is kept for ever, and stays so.
    async keepUntil(userId, until) {
      await enrollments.updateMany({ userId, purgeAt: { $exists: true } }, { $set: { purgeAt: until } });
    },

    async remove(ids) {
      await enrollments.deleteMany({ _id: { $in: [...ids] }, auditAt: { $exists: false } });
    },

    block: (id, { reason, at, entry }) =>
      update(id, {
        $set: { status: 'blocked', blockReason: reason, blockedAt: at, invalidateAt: at, ...auditDue(entry) },
        ...pushAudit(entry),
      }),

    unblock: (id, entry) =>
      update(id, {
        $set: { status: 'active', ...auditDue(entry) },
        $unset: { blockReason: '' },
        ...pushAudit(entry),
      }),

    async withdraw({ _id, userId }, at, entry) {
      const ended = { consentedClaims: [], withdrawnAt: at, invalidateAt: at, auditAt: entry.at };
      const change = { $set: ended, $push: { audit: entry } };
      const options = { returnDocument: 'after' } as const;
      return (await enrollments.findOneAndUpdate({ _id, userId }, change, options)) ?? undefined;
    },

    async rememberCustomer(id, customerHash) {
      await enrollments.updateOne(
        { _id: id, customerHash: { $ne: customerHash } },
        { $set: { customerHash } },
      );
    },
  };
}
