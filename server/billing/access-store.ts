import { type Db, MongoBulkWriteError } from 'mongodb';
import type { ClaimsSnapshot } from '../../contracts/claims.ts';
import type { Mode } from '../../contracts/identifiers.ts';
import type { VerificationLevel } from '../../contracts/storefront.ts';
import { isUnavailable } from '../platform/database/connect.ts';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import { deletedAtOnce, deleteSome } from '../platform/database/sweep.ts';
import { unavailable } from '../platform/errors.ts';
import { createStage } from '../platform/stage.ts';
import type { BillableKind } from './wallet-model.ts';

/** What was bought: the verified access that a charge pays for. `_id` is the charge's id. */
export interface Access extends ClaimsSnapshot {
  _id: string;
  state: 'live';
  /** Of the request that inserted it: tells a repeated reply from somebody else's record. */
  attempt: string;
  kind: BillableKind;
  walletId: string;
  partnerId: string;
  mode: Mode;
  clientId: string;
  keyId: string;
  sessionId: string;
  enrollmentId: string;
  sub: string;
  /** Whether the session was not the user's first: a Verified Access Event (interface section 6). */
  returning: boolean;
  scope: string;
  at: Date;
  expiresAt: Date;
  revokedAt?: Date;
  /** What a storefront or checkbox request must repeat to get the same answer again. */
  fingerprint?: string;
  /** What a storefront's answer says besides the claims. */
  verificationLevel?: VerificationLevel;
}

/** Stands for the subject of somebody who was erased. */
export const erasedSub = 'erased';

/** First insert wins: the charge of this id is void, for ever, and the next number is used. */
export interface Tombstone {
  _id: string;
  state: 'void';
  walletId: string;
  at: Date;
}

export type AccessRecord = Access | Tombstone;
type Stored = AccessRecord & { purgeAt: Date };

/**
 * No TTL index: while a hold waits for its settlement, however long, its record must not go. The sweep, which
 * knows of every hold, deletes the records.
 */
export const indexes: IndexDeclaration[] = [{ collection: 'accesses', key: { purgeAt: 1 } }];

/** Records are kept this long, in milliseconds: far longer than a code or a token lives. */
export const keepFor = 30 * 24 * 3_600_000;

const purgeAt = (from: Date) => new Date(from.getTime() + keepFor);

/** Rounds of 1,000 records that one purge deletes. */
const purgeRounds = 100;

/** The `accesses` collection: reads by id and inserts are group-committed. `patient` waits longer for answers. */
export function createAccessStore(db: Db, patient: Db = db) {
  const accesses = db.collection<Stored>('accesses');

  async function findAll(ids: readonly string[]): Promise<Map<string, AccessRecord>> {
    const found = await accesses.find({ _id: { $in: [...new Set(ids)] } }).toArray();
    return new Map(found.map((record) => [record._id, record]));
  }

  const loadMany = createStage<readonly string[], AccessRecord[]>({
    async run(requests) {
      const found = await findAll(requests.flat());
      return requests.map((ids) => ids.flatMap((id) => found.get(id) ?? []));
    },
  });

  /** The records that now stand under the ids of a batch: ours where we were first. */
  const insert = createStage<AccessRecord, AccessRecord>({
    async run(records) {
      try {
        const stored = records.map((record) => ({ ...record, purgeAt: purgeAt(record.at) }));
        await accesses.insertMany(stored, { ordered: false });
        return records;
      } catch (error) {
        if (!isUnavailable(error) && !(error instanceof MongoBulkWriteError)) throw error;
        // Duplicates, or a lost reply to inserts that may have landed: what stands there decides, one by one.
        const standing = await findAll(records.map(({ _id }) => _id));
        return records.map((record) => standing.get(record._id) ?? unavailable(error));
      }
    },
  });

  return {
    /** The records among `ids`, in their order; coalesced with other requests' reads. */
    loadMany,

    /**
     * Inserts unless a record of this id stands already; gives the record that stands there afterwards.
     * @throws ApiError service_unavailable where nothing stands there after all: insert again
     */
    insert,

    find: async (id: string): Promise<AccessRecord | undefined> => (await loadMany([id]))[0],

    /** What stands under each of `ids`. */
    async states(ids: readonly string[]): Promise<Map<string, AccessRecord['state']>> {
      const found = await accesses.find({ _id: { $in: [...ids] } }, { projection: { state: 1 } }).toArray();
      return new Map(found.map(({ _id, state }) => [_id, state]));
    },

    /** Ids of all that one wallet bought. Reads the whole collection, page by page: for audits. */
    async idsOfWallet(walletId: string): Promise<string[]> {
      const ids: string[] = [];
      for await (const { _id } of patient
        .collection<AccessRecord>('accesses')
        .find({ walletId, state: 'live' }, { projection: { _id: 1 } }))
        ids.push(_id);
      return ids;
    },

    async revoke(id: string, at: Date): Promise<void> {
      await accesses.updateOne({ _id: id, revokedAt: { $exists: false } }, { $set: { revokedAt: at } });
    },

    /** Keeps the records among `ids` for another 30 days from `now` on. */
    async keep(ids: readonly string[], now: Date): Promise<void> {
      await accesses.updateMany({ _id: { $in: [...ids] } }, { $max: { purgeAt: purgeAt(now) } });
    },

    /** Deletes records that were kept long enough, 100,000 at most. To be called when no hold needs them. */
    async purge(now: Date): Promise<void> {
      const old = patient.collection<Stored>('accesses');
      for (let round = 0; round < purgeRounds; round += 1) {
        const { found } = await deleteSome(old, { purgeAt: { $lt: now } });
        if (found < deletedAtOnce) return;
      }
    },
  };
}
export type AccessStore = ReturnType<typeof createAccessStore>;
