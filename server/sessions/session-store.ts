import { randomBytes } from 'node:crypto';
import type { Db, Filter } from 'mongodb';
import { createGroupCommit } from '../platform/batching/group-commit.ts';
import { moveExpiry, type NewExpiry } from '../platform/database/expiry.ts';
import { anyOf, type JointRead, type Read } from '../platform/database/reads/joint-reads.ts';
import type { IndexDeclaration } from '../platform/database/schema/indexes.ts';
import type { ShardDeclaration } from '../platform/database/schema/sharding.ts';
import { insertEach, updateEach } from '../platform/database/write-groups.ts';
import { sameText } from '../platform/ids.ts';
import type { PresentedSecret } from './code.ts';
import type { Session } from './session.ts';
import { countSessions, listSessions, type SessionFilter, type SessionSearch } from './session-list-store.ts';
import { keepUnfinished, type Move, toPublished, toStatement } from './session-update-store.ts';
import { readSourceUse } from './source-use-store.ts';
import { pendingIn } from './sources/identity-wallet/pending.ts';
import { applied, type Transition } from './transitions.ts';

export const collection = 'sessions';
export const indexes: IndexDeclaration[] = [
  { collection, key: { userId: 1 }, sparse: true },
  // Lists for operators.
  { collection, key: { partnerId: 1, createdAt: -1, _id: -1 } },
  { collection, key: { clientId: 1, createdAt: -1, _id: -1 } },
  { collection, key: { createdAt: -1, _id: -1 } },
  { collection, key: { stateHash: 1 }, sparse: true },
  {
    collection,
    key: { clientReferenceId: 1, createdAt: -1, _id: -1 },
    partialFilterExpression: { clientReferenceId: { $exists: true } },
  },
  { collection, key: { outboxAt: 1 }, sparse: true },
  { collection, key: { 'snapshot.until': 1 }, sparse: true },
  { collection, key: { enrollmentDueAt: 1 }, sparse: true },
  { collection, key: { purgeAt: 1 }, expireAfterSeconds: 0 },
];
/**
 * A sharded collection has no unique index besides that of its shard key. None is needed: codes and hand-off links
 * contain the session's id.
 */
export const shardKey: ShardDeclaration = { collection, key: { _id: 1 } };

/** The fields with the time since when work on a session is unfinished. */
const dueFields = ['enrollmentDueAt', 'outboxAt'] as const;
type DueField = (typeof dueFields)[number];
const dueBy = (field: DueField, before: Date) => ({ [field]: { $lte: before } });
const expiredSnapshots = (now: Date) => ({ 'snapshot.until': { $lte: now } });

/** Find whether sessions have unfinished work since `before` or earlier. */
export const unfinishedReads = (before: Date): Read[] =>
  dueFields.map((field) => anyOf(collection, dueBy(field, before)));
/** Finds whether the claims snapshot of a code has expired. */
export const expiredSnapshotRead = (now: Date): Read => anyOf(collection, expiredSnapshots(now));

/** The fields of a session that the exchange of its code reads. */
const codeFields = [
  'clientId',
  'keyId',
  'redirectUri',
  'scope',
  'codeChallenge',
  'openid',
  'code',
  'snapshot',
  'userId',
  'sub',
  'returning',
  'enrollmentId',
  'consentedAt',
] as const;
const codeProjection = Object.fromEntries(codeFields.map((field) => [field, 1 as const]));
export type CodeSession = Pick<Session, '_id' | (typeof codeFields)[number]>;

/** A code, with the partner and the mode whose wallet pays for its exchange. */
export interface CodeOfSession extends Pick<Session, 'partnerId' | 'mode'> {
  codeHash: string;
}

export const codesOf = (sessions: readonly Pick<Session, 'partnerId' | 'mode' | 'code'>[]): CodeOfSession[] =>
  sessions.flatMap(({ partnerId, mode, code }) => (code ? [{ partnerId, mode, codeHash: code.hash }] : []));

/** Selects sessions of a user: all, those of one enrollment, or those whose consent was given at `consentedBy` or before. */
export interface Whose {
  userId: string;
  enrollmentId?: string;
  consentedBy?: Date;
}

/**
 * How long the response of an identity wallet locks its request while it is verified, in milliseconds. Then the request is open
 * again, because the process that verified the response may have died.
 */
export const requestLockMs = 20_000;

export function createSessionStore(db: Db, read: JointRead) {
  const sessions = db.collection<Session>(collection);

  /** Finds sessions with unfinished work since `before` or earlier, the oldest first. */
  const findDueBy = (field: DueField) => (before: Date, limit: number) =>
    sessions
      .find(dueBy(field, before))
      .sort({ [field]: 1 })
      .limit(limit)
      .toArray();

  const insert = createGroupCommit<Session, undefined>({
    async run(batch) {
      const purgeable = batch.map((session) => ({
        ...session,
        purgeAt: new Date(session.expiresAt.getTime() + keepUnfinished),
      }));
      // Ids are random, so an id that exists is this same session, after a lost reply.
      const results = await insertEach(sessions, purgeable);
      return results.map((result) => (result instanceof Error ? result : undefined));
    },
  });

  /**
   * Matches the sessions of codes or links. The database compares the hashes, so a session whose secret is wrong is not
   * read at all.
   */
  function matching(
    field: 'code.hash' | 'handoff.linkHash',
    all: readonly PresentedSecret[],
  ): Filter<Session> {
    const ids = all.flatMap(({ sessionId }) => sessionId ?? []);
    return { _id: { $in: ids }, [field]: { $in: all.map(({ hash }) => hash) } };
  }

  /**
   * Whether a code or link is that of a session. This is checked after `matching`, which may find a session by the id in
   * one code and the hash of another code.
   */
  const isOf = (
    { hash, sessionId }: PresentedSecret,
    { _id }: Pick<Session, '_id'>,
    storedHash: string | undefined,
  ) => sessionId === _id && storedHash !== undefined && sameText(storedHash, hash);

  async function findAll(ids: readonly string[]): Promise<Map<string, Session>> {
    const found = await sessions.find({ _id: { $in: [...new Set(ids)] } }).toArray();
    return new Map(found.map((session) => [session._id, session]));
  }

  const find = createGroupCommit<string, Session | undefined>({
    async run(ids) {
      const found = await findAll(ids);
      return ids.map((id) => found.get(id));
    },
  });

  /**
   * Applies transitions. The database reports only how many of a batch matched. If some did not, the sessions are read.
   * A transition was applied if its nonce is in the timeline.
   */
  const move = createGroupCommit<Move, Session | undefined>({
    async run(moves) {
      const { allMatched, refused } = await updateEach(sessions, moves.map(toStatement));
      if (allMatched) return moves.map(applied);
      const stored = await findAll(moves.map(({ session }) => session._id));
      return moves.map((one, index) => {
        const session = stored.get(one.session._id);
        const wasApplied = session?.timeline.some(({ nonce }) => nonce === one.nonce);
        return wasApplied ? applied(one) : refused.get(index);
      });
    },
  });

  return {
    insert,
    /** Finds a session in any state. The caller checks whether it has expired. */
    find,

    /** The sessions of `ids` that exist, in any state, with their partners. */
    existing: (ids: readonly string[]): Promise<Pick<Session, '_id' | 'partnerId'>[]> =>
      sessions.find({ _id: { $in: [...ids] } }, { projection: { _id: 1, partnerId: 1 } }).toArray(),

    /** Finds a session by the link of its hand-off. The caller checks whether the link still works. */
    async findByLink(link: PresentedSecret): Promise<Session | undefined> {
      const found = await sessions.findOne(matching('handoff.linkHash', [link]));
      return found && isOf(link, found, found.handoff?.linkHash) ? found : undefined;
    },

    /** Applies a transition. Undefined if the session has changed since it was read, or has expired. */
    move: (session: Session, transition: Transition, now: Date): Promise<Session | undefined> =>
      move({ session, transition, now, nonce: randomBytes(8).toString('base64url') }),

    /** The sessions in the order of `codes`; undefined for an unknown code, or a session id with a wrong secret. */
    async findByCodes(codes: readonly PresentedSecret[]): Promise<(CodeSession | undefined)[]> {
      const filter = matching('code.hash', codes);
      const found = await read<CodeSession>({ collection, filter, projection: codeProjection });
      const byHash = new Map(found.map((session) => [session.code?.hash, session]));
      return codes.map((code) => {
        const session = byHash.get(code.hash);
        return session && isOf(code, session, session.code?.hash) ? session : undefined;
      });
    },

    /**
     * Locks the open request of a session to an identity wallet, so that only one of several simultaneous responses is verified.
     * The outcome of the response later replaces the lock.
     * @param now in ms since 1970
     * @returns false if another response has locked the request, or the session has changed or expired
     */
    async lockRequest({ _id, timeline, carried }: Session, now: number): Promise<boolean> {
      const unlocked: Filter<Session> = {
        _id,
        timeline: { $size: timeline.length },
        expiresAt: { $gt: new Date(now) },
        // Matches a request without a lock too.
        'carried.wallet.claimedUntil': { $not: { $gt: now } },
      };
      const locked = { ...pendingIn(carried), claimedUntil: now + requestLockMs };
      const { matchedCount } = await sessions.updateOne(unlocked, { $set: { 'carried.wallet': locked } });
      return matchedCount === 1;
    },

    /** @returns the new count; undefined for a session without a code */
    async countWrongVerifier(id: string): Promise<number | undefined> {
      const after = await sessions.findOneAndUpdate(
        { _id: id, code: { $exists: true } },
        { $inc: { 'code.wrongVerifiers': 1 } },
        { returnDocument: 'after', projection: { code: 1 } },
      );
      return after?.code?.wrongVerifiers;
    },

    list: (search: SessionSearch) => listSessions(sessions, search),
    count: (filter: SessionFilter) => countSessions(sessions, filter),
    sourceUse: (since: Date) => readSourceUse(sessions, since),

    ofUser: (userId: string): Promise<Session[]> =>
      sessions.find({ userId }).sort({ createdAt: 1 }).toArray(),

    moveExpiry: (userId: string, expiry: NewExpiry): Promise<void> =>
      moveExpiry(sessions, { userId }, expiry),

    /**
     * Removes the claims snapshots of codes. Call this after the user or the enrollment has changed.
     * @param note tells operators the reason
     */
    async invalidateSnapshots({ consentedBy, ...owner }: Whose, at: Date, note: string): Promise<void> {
      // A session that is just completing may have read the older data. The new entry makes its transition fail, and the
      // session then completes with the new data.
      const completing = { status: 'verified' as const, failure: { $exists: false } };
      const affected: Filter<Session> = {
        ...owner,
        ...(consentedBy ? { consentedAt: { $lte: consentedBy } } : {}),
        $or: [completing, { snapshot: { $exists: true } }],
      };
      const entry = { at, event: 'snapshot_invalidated' as const, note };
      await sessions.updateMany(affected, { $unset: { snapshot: '' }, $push: { timeline: entry } });
    },

    /** Removes the claims snapshots of codes that have expired. */
    async forgetCodeSnapshots(now: Date): Promise<void> {
      await sessions.updateMany(expiredSnapshots(now), { $unset: { snapshot: '' } });
    },

    /** Removes what sources have stored in the sessions of a user, and the partners' references for these sessions. */
    async forgetCarried(userId: string): Promise<void> {
      await sessions.updateMany({ userId }, { $unset: { carried: '', clientReferenceId: '' } });
    },

    /** Sessions whose enrollment was due for an update at `before` or earlier. */
    dueForEnrollment: findDueBy('enrollmentDueAt'),

    /** Marks the user of a session as returning, because another session enrolled the user before it completed. */
    async markReturning(id: string): Promise<void> {
      await sessions.updateOne({ _id: id, returning: false }, { $set: { returning: true } });
    },

    async forgetUser(userId: string): Promise<void> {
      const references = {
        userId: '',
        enrollmentDueAt: '',
        sub: '',
        enrollmentId: '',
        returning: '',
        carried: '',
        snapshot: '',
      } as const;
      await sessions.updateMany({ userId }, { $unset: references });
    },

    /** Sessions with events that should have been published at `before` or earlier. */
    unpublished: findDueBy('outboxAt'),

    /**
     * Marks the events of these sessions as published, and their enrollments as updated. A session that has newer events
     * than those in `published` stays due.
     */
    async markPublished(published: readonly Session[]): Promise<void> {
      const due = published.filter(({ outboxAt, enrollmentDueAt }) => outboxAt ?? enrollmentDueAt);
      // The driver refuses an empty list.
      if (due.length > 0) await sessions.bulkWrite(due.map(toPublished), { ordered: false });
    },
  };
}
export type SessionStore = ReturnType<typeof createSessionStore>;
