import type { Db, UpdateFilter } from 'mongodb';
import type { ClaimName } from '../../../contracts/claims.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { Rehearsal } from '../../../contracts/verification.ts';
import { createGroupCommit } from '../../platform/batching/group-commit.ts';
import type { AuditEntry } from '../../platform/database/audit/audit-entry.ts';
import { moveExpiry, type NewExpiry } from '../../platform/database/expiry.ts';
import { isDuplicateKey } from '../../platform/database/failures.ts';
import { countThrough, divideFilter } from '../../platform/database/reads/look-through.ts';
import { readPage } from '../../platform/database/reads/pages.ts';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';
import type { ShardDeclaration } from '../../platform/database/schema/sharding.ts';
import { insertEach } from '../../platform/database/write-groups.ts';
import { ApiError } from '../../platform/errors.ts';
import { invalidationIndex, invalidationsOf, type SnapshotOwner } from './invalidation-store.ts';

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

export const collection = 'enrollments';
/** The index of blocked enrollments, which are few. */
const byBlock = { createdAt: -1, _id: -1 } as const;
export const indexes: IndexDeclaration[] = [
  { collection, key: { partnerId: 1, createdAt: -1, _id: -1 } },
  { collection, key: byBlock, partialFilterExpression: { status: 'blocked' } },
  { collection, key: { sub: 1 } },
  { collection, key: { userId: 1 } },
  { collection, key: { customerHash: 1 }, sparse: true },
  { collection, key: { auditAt: 1 }, sparse: true },
  { collection, key: { purgeAt: 1 }, sparse: true, expireAfterSeconds: 0 },
  invalidationIndex(collection),
];
/** `_id` is derived from client and user, so no other unique index is needed. */
export const shardKey: ShardDeclaration = { collection, key: { _id: 1 } };

/** Whether the user has withdrawn the consent that was given at `consentedAt`, or has withdrawn one and given none since. */
export const isWithdrawn = (
  { withdrawnAt }: Pick<Enrollment, 'withdrawnAt'>,
  { consentedAt }: { consentedAt?: Date },
): boolean => withdrawnAt !== undefined && (consentedAt === undefined || consentedAt <= withdrawnAt);

const mostPerPerson = 1_000;

/** The filter of a list: a partner's enrollments, those of one user of the partner, or those that are blocked. */
interface EnrollmentFilter {
  partnerId?: string;
  sub?: string;
  status?: Enrollment['status'];
}

/** Adds an audit entry to a change of an enrollment. `auditAt` marks the entry for the copy to the audit log. */
const audited = (change: UpdateFilter<Enrollment>, entry: AuditEntry): UpdateFilter<Enrollment> => ({
  ...change,
  $set: { ...change.$set, auditAt: entry.at },
  $push: { audit: entry },
});

export function createEnrollmentStore(db: Db) {
  const enrollments = db.collection<Enrollment>(collection);

  /**
   * Adds the consented claims to the enrollment, or inserts it. An enrollment whose consent was withdrawn at
   * `consentedAt` or later does not match. Then the database tries to insert a second one, which fails.
   * @throws a duplicate key error in that case, or if another request inserts the enrollment at the same time
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
    /**
     * Makes the enrollment, or adds its consented claims to the existing one. A consent that was withdrawn since adds
     * nothing. Idempotent.
     * @param how.exists whether the caller has found the enrollment. Then no insert is tried first.
     */
    async enroll(
      enrollment: Enrollment,
      { exists, consentedAt }: { exists: boolean; consentedAt: Date },
    ): Promise<Enrollment> {
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

    find: async (id: string): Promise<Enrollment | undefined> =>
      (await enrollments.findOne({ _id: id })) ?? undefined,

    findAll: (ids: readonly string[]): Promise<Enrollment[]> =>
      enrollments.find({ _id: { $in: [...ids] } }).toArray(),

    invalidations: invalidationsOf(enrollments),

    /** Newest first; the page begins after `after`. */
    list: (
      filter: EnrollmentFilter,
      page: { limit: number; after?: Enrollment | undefined },
    ): Promise<Enrollment[]> =>
      readPage(enrollments, filter, {
        ...page,
        ...(filter.partnerId === undefined ? { hint: byBlock } : {}),
      }),

    // `sub` has an index of its own. The index of the partner continues with the time.
    count: (filter: EnrollmentFilter) =>
      countThrough(
        enrollments,
        filter.partnerId === undefined && filter.sub === undefined
          ? { indexed: filter, hint: byBlock, rest: {} }
          : divideFilter(filter, { selective: ['sub'], sorted: ['partnerId'] }, 'createdAt'),
      ),

    ofUser: (userId: string): Promise<Enrollment[]> =>
      enrollments.find({ userId }).sort({ createdAt: 1 }).toArray(),

    /** The enrollments with a pairwise subject, which are all of one partner. */
    ofSubject: (sub: string): Promise<Enrollment[]> =>
      enrollments.find({ sub }).limit(mostPerPerson).toArray(),

    ofCustomer: (customerHash: string): Promise<Enrollment[]> =>
      enrollments.find({ customerHash }).limit(mostPerPerson).toArray(),

    userOfSubject: async (sub: string): Promise<string | undefined> =>
      (await enrollments.findOne({ sub }, { projection: { userId: 1 } }))?.userId,

    /** Changes when the enrollments of a user are deleted. One without `purgeAt` is kept for ever, and stays so. */
    async keepUntil(userId: string, until: Date): Promise<void> {
      await enrollments.updateMany({ userId, purgeAt: { $exists: true } }, { $set: { purgeAt: until } });
    },

    moveExpiry: (userId: string, expiry: NewExpiry): Promise<void> =>
      moveExpiry(enrollments, { userId }, expiry),

    /** Deletes enrollments. One with an audit entry that is not copied to the audit log yet stays until the next call. */
    async remove(ids: readonly string[]): Promise<void> {
      await enrollments.deleteMany({ _id: { $in: [...ids] }, auditAt: { $exists: false } });
    },

    /**
     * The caller must then invalidate the claims snapshots of the enrollment's sessions.
     * @param how.entry the audit entry of an operator
     * @throws ApiError `not_found`
     */
    block(
      id: string,
      { reason, at, entry }: { reason: string; at: Date; entry?: AuditEntry | undefined },
    ): Promise<Enrollment> {
      const blocked = { status: 'blocked', blockReason: reason, blockedAt: at, invalidateAt: at } as const;
      return update(id, entry ? audited({ $set: blocked }, entry) : { $set: blocked });
    },

    /** @throws ApiError `not_found` */
    unblock: (id: string, entry: AuditEntry): Promise<Enrollment> =>
      update(id, audited({ $set: { status: 'active' }, $unset: { blockReason: '' } }, entry)),

    /**
     * Ends the consent of an enrollment. The caller must then invalidate the claims snapshots of its sessions, and end
     * its accesses.
     * @returns undefined if the enrollment does not exist any more
     */
    async withdraw(
      { _id, userId }: Enrollment,
      at: Date,
      entry: AuditEntry,
    ): Promise<Enrollment | undefined> {
      const ended = { consentedClaims: [], withdrawnAt: at, invalidateAt: at };
      const change = audited({ $set: ended }, entry);
      const options = { returnDocument: 'after' } as const;
      return (await enrollments.findOneAndUpdate({ _id, userId }, change, options)) ?? undefined;
    },

    /** Stores the hash of the shop's customer id for this user. A later one replaces it. */
    async rememberCustomer(id: string, customerHash: string): Promise<void> {
      await enrollments.updateOne({ _id: id }, { $set: { customerHash } });
    },
  };
}
export type EnrollmentStore = ReturnType<typeof createEnrollmentStore>;
