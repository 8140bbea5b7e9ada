import type { Db, Document } from 'mongodb';
import type { Mode } from '../../../../contracts/identifiers.ts';
import { type ApiKey, collection as keyCollection } from '../../../partners/keys/key-store.ts';
import { inTurns, limitInTurns } from '../../../platform/database/reads/in-turns.ts';
import { givenFields } from '../../../platform/database/reads/look-through.ts';
import { type Delivery, inAnyLane, type Overdue } from '../../delivery/delivery.ts';
import {
  collection as deliveryCollection,
  failedByKey,
  failedOfAnyKey,
  overdueByKey,
  overdueOfAnyKey,
  slowByKey,
  slowOfAnyKey,
} from '../../delivery/delivery-store.ts';
import { keysOf, keysOfWaiting } from '../../delivery/keys-of-deliveries-store.ts';
import type { EndedAttempt } from './endpoint-health.ts';
import type { KeyOwner } from './key-owner.ts';

const dayMs = 24 * 3_600_000;
/** How many of a key's newest deliveries are searched for attempted ones. A key may have very many that were not attempted yet. */
const mostSearched = 2_000;
const mostAttempted = 500;
/** The count of a key's due deliveries ends at this number. */
const mostQueued = 10_000;
/** Sorts live before test by the alphabet. */
const liveFirst = { mode: 1 } as const;

/** Stages that find the newest failed delivery of each key. With the hint `failedByKey`, the database reads no others. */
export const newestFailedOfKeys: Document[] = [
  { $match: failedOfAnyKey },
  { $sort: failedByKey },
  {
    $group: {
      _id: '$keyId',
      partnerId: { $first: '$partnerId' },
      mode: { $first: '$mode' },
      at: { $first: '$createdAt' },
    },
  },
];

const ownerOf = ({ _id: keyId, partnerId, mode }: ApiKey): KeyOwner => ({ keyId, partnerId, mode });

interface Wanted {
  mode?: Mode | undefined;
  limit: number;
}

/** Reads deliveries to derive the health of endpoints. Each read uses an index and has a limit. */
export function createHealthStore(db: Db) {
  const deliveries = db.collection<Delivery>(deliveryCollection);
  const keys = db.collection<ApiKey>(keyCollection);

  /** Keys with deliveries that have failed since a time, in turns of partners. The first key of a partner is a live one. */
  const failing = (since: Date, { mode, limit }: Wanted): Promise<KeyOwner[]> =>
    deliveries
      .aggregate<KeyOwner>(
        [
          ...newestFailedOfKeys,
          { $match: { at: { $gt: since }, ...givenFields({ mode }) } },
          ...limitInTurns({ by: 'partnerId', sort: liveFirst, limit }),
          { $project: { _id: 0, keyId: '$_id', partnerId: 1, mode: 1 } },
        ],
        { hint: failedByKey },
      )
      .toArray();

  /** Takes turns of partners, so that one with many keys hides no other. Within a turn, live keys come first. */
  function limitOwners(owners: readonly KeyOwner[], limit: number): KeyOwner[] {
    const rank = ({ mode }: KeyOwner) => (mode === 'live' ? 0 : 1);
    const sorted = owners.toSorted((one, other) => rank(one) - rank(other));
    return inTurns(sorted, ({ partnerId }) => partnerId).slice(0, limit);
  }

  return {
    /** Attempts that have ended within a day, in order of time, without those that a process of ours did not complete. */
    async attempts(keyId: string, now: Date): Promise<EndedAttempt[]> {
      return deliveries
        .aggregate<EndedAttempt>([
          { $match: { keyId, createdAt: { $gt: new Date(now.getTime() - dayMs) } } },
          { $sort: { createdAt: -1, _id: -1 } },
          { $limit: mostSearched },
          // Attempts at another URL say nothing of the endpoint.
          { $match: { 'attempts.0': { $exists: true }, to: null } },
          { $limit: mostAttempted },
          { $unwind: '$attempts' },
          { $replaceWith: '$attempts' },
          // An attempt that is under way has neither a status nor an error yet.
          { $match: { $or: [{ status: { $exists: true } }, { error: { $exists: true } }] } },
          // An interrupted attempt says nothing of the receiver: a process of ours ended.
          { $match: { error: { $ne: 'interrupted' } } },
          { $project: { at: 1, status: 1, error: 1, durationMs: 1, detail: 1, clockAheadMinutes: 1 } },
          { $sort: { at: 1 } },
        ])
        .toArray();
    },

    /** Counts the due deliveries of a key, at most `mostQueued`. */
    queued: (keyId: string, now: Date): Promise<number> =>
      deliveries.countDocuments(
        { status: 'pending', keyId, ...inAnyLane, nextAttemptAt: { $lte: now } },
        { limit: mostQueued },
      ),

    /** The deliveries of a key that a process could not send although they were due, and the oldest of them. */
    async heldBack(keyId: string, now: Date): Promise<{ count: number; oldest: Overdue | undefined }> {
      const held = { ...overdueOfAnyKey, keyId, 'overdue.reason': { $gt: '' } };
      const hint = overdueByKey;
      const [count, oldest] = await Promise.all([
        // Those that are due by their present time are in `queued`.
        deliveries.countDocuments({ ...held, nextAttemptAt: { $gt: now } }, { limit: mostQueued, hint }),
        deliveries.findOne(held, { sort: overdueByKey, hint }),
      ]);
      return { count, oldest: oldest?.overdue };
    },

    /** Keys with deliveries that have failed within a day, or wait for an attempt. */
    async troubled(now: Date, wanted: Wanted): Promise<KeyOwner[]> {
      const [failed, waiting] = await Promise.all([
        failing(new Date(now.getTime() - dayMs), wanted),
        keysOfWaiting(deliveries, givenFields({ mode: wanted.mode })),
      ]);
      // A key may have both failed and waiting deliveries. The map keeps its first place.
      const owners = new Map([...failed, ...waiting].map((owner) => [owner.keyId, owner]));
      return limitOwners([...owners.values()], wanted.limit);
    },

    /** Keys that are paused, or had a slow answer within a day. Their endpoints may be `ok` nevertheless. */
    async suspected(now: Date, { mode, limit }: Wanted): Promise<KeyOwner[]> {
      const since = new Date(now.getTime() - dayMs);
      const slow = { ...slowOfAnyKey, createdAt: { $gt: since }, ...givenFields({ mode }) };
      const [slowOwners, paused] = await Promise.all([
        keysOf(deliveries, slow, slowByKey),
        keys
          .find({ 'pause.until': { $gt: now }, status: 'active', ...givenFields({ mode }) })
          .limit(limit)
          .toArray(),
      ]);
      return limitOwners([...slowOwners, ...paused.map(ownerOf)], limit);
    },

    async ofPartner(partnerId: string, { mode, limit }: Wanted): Promise<KeyOwner[]> {
      const found = await keys
        .find({ partnerId, ...givenFields({ mode }), webhook: { $exists: true } })
        .sort({ createdAt: -1, _id: -1 })
        .limit(limit)
        .toArray();
      return found.map(ownerOf);
    },
  };
}
