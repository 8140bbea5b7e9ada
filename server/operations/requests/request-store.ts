import type { Db, Document } from 'mongodb';
import type { Total, Unpaged } from '../../../contracts/admin/references.ts';
import type { ListRefused, ListRequests } from '../../../contracts/admin/requests.ts';
import { retentionMs } from '../../../contracts/retention.ts';
import { limitInTurns } from '../../platform/database/reads/in-turns.ts';
import {
  countThrough,
  type Found,
  givenFields,
  lookThrough,
  period,
} from '../../platform/database/reads/look-through.ts';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';
import type { ShardDeclaration } from '../../platform/database/schema/sharding.ts';

/** A stored request: who sent it, what it asked for and how it ended. */
export interface RequestRecord {
  _id: string;
  at: Date;
  method: string;
  route: string;
  status: number;
  durationMs: number;
  error?: string;
  description?: string;
  partnerId?: string;
  keyId?: string;
  clientId?: string;
  sessionId?: string;
  integrationId?: string;
  retryAfter?: number;
  /** The redirect URI and the shop of a refused request, as they were sent, with secrets masked. */
  redirectUri?: string;
  shop?: string;
  /** The network that the request came from. Removed when the user of the session is erased. */
  address?: string;
  purgeAt: Date;
}

/** The time for which a request is kept, in milliseconds. */
export const requestRetentionMs = retentionMs.request;

const collection = 'requestLog';
const byPartner = { partnerId: 1, at: -1, _id: -1 } as const;
const failures = { status: { $gte: 400 } };
/** The index of failed requests, the newest first. */
const byFailure = { at: -1, _id: -1, status: 1 } as const;
export const indexes: IndexDeclaration[] = [
  { collection, key: { purgeAt: 1 }, expireAfterSeconds: 0 },
  { collection, key: { sessionId: 1 }, sparse: true },
  { collection, key: { at: -1, _id: -1 } },
  { collection, key: byPartner },
  // Indexes of failures, which are few among successes.
  { collection, key: byFailure, partialFilterExpression: failures },
  { collection, key: { partnerId: 1, at: -1, _id: -1, status: 1 }, partialFilterExpression: failures },
];
/** Requests are spread by their random ids. Lists for operators read all shards. */
export const shardKey: ShardDeclaration = { collection, key: { _id: 1 } };

/** Stages that replace `_id`, the key of a group, by its fields. */
const moveKeyToFields: Document[] = [
  { $replaceWith: { $mergeObjects: ['$$ROOT', '$_id'] } },
  { $unset: '_id' },
];
const mostCounted = 50_000;
/** The most of these of one partner, in a count for all partners. */
const mostOfPartner = 5_000;

/**
 * Stages that read the wanted failed requests for each partner alone, so that a partner with very many hides no other. They need
 * the hint `byPartner`.
 * @param stages of the requests of one partner, the newest first
 */
const failuresOfEach = (wanted: { at: Document; status: unknown }, stages: Document[]): Document[] => [
  { $match: { partnerId: { $gt: '' } } },
  { $sort: byPartner },
  // The database reads only the newest request of each partner.
  { $group: { _id: '$partnerId', at: { $first: '$at' } } },
  { $match: { at: wanted.at } },
  {
    $lookup: {
      from: collection,
      localField: '_id',
      foreignField: 'partnerId',
      pipeline: [{ $match: wanted }, { $sort: { at: -1, _id: -1 } }, { $limit: mostOfPartner }, ...stages],
      as: 'found',
    },
  },
  { $unwind: '$found' },
  { $replaceWith: { $mergeObjects: ['$found', { partnerId: '$_id' }] } },
];

/** Failed requests of one kind: those of a client with the same route and error. */
export interface RecentError extends Pick<RequestRecord, 'route' | 'status' | 'clientId'> {
  partnerId: string;
  error: string;
  count: number;
  /** The newest of them. */
  requestId: string;
}

/** The requests of one partner that were refused at one route for one reason. */
interface Refused {
  partnerId?: string;
  route: string;
  error: string;
  /** For `rate_limited`: the description, which tells the limits apart. Null for any other error. */
  limit?: string | null;
  count: number;
  firstAt: Date;
  lastAt: Date;
  lastRequest: string;
}

export type RequestFilter = Unpaged<ListRequests>;
/** The exchanges of one caller that were refused because the balance was too low. */
export interface UnpaidExchanges
  extends Pick<RequestRecord, 'partnerId' | 'clientId' | 'integrationId' | 'keyId'> {
  count: number;
  lastAt: Date;
}

type Wanted = RequestFilter & { limit: number; after?: RequestRecord | undefined };

/** Returns the condition of a status: `4xx` is a range, `404` is a single status. */
function statusCondition(status: string | undefined): Document {
  if (status === undefined) return {};
  if (!status.endsWith('xx')) return { status: Number(status) };
  const lowest = Number(status[0]) * 100;
  return { status: { $gte: lowest, $lt: lowest + 100 } };
}

/** Chooses the index of a search. A session has few requests, so its index is the best. Failures have indexes of their own. */
function indexFor({ partnerId, sessionId }: RequestFilter, onlyFailures: boolean): Document {
  if (sessionId) return { sessionId: 1 };
  const order = { at: -1, _id: -1, ...(onlyFailures ? { status: 1 } : {}) };
  return partnerId ? { partnerId: 1, ...order } : order;
}

/** Returns the condition that a text begins with `text`, without a regular expression from the caller's input. */
const beginsWith = (text: string): Document => ({ $gte: text, $lt: `${text}\u{10ffff}` });

/**
 * Returns the conditions of a search in two parts: those that the index `hint` serves, and the `rest`, which the database tests
 * on the records that the index finds. `rest` has the status itself, because the index of failures has all failures.
 */
function conditionsOf({ partnerId, sessionId, clientId, status, path, error, since, until }: RequestFilter) {
  // The indexes of failures do not serve a search by session (`indexFor`).
  const onlyFailures = !sessionId && /^[45]/.test(status ?? '');
  return {
    indexed: {
      ...givenFields({ partnerId, sessionId }),
      ...period('at', since, until),
      ...(onlyFailures ? failures : {}),
    },
    hint: indexFor({ partnerId, sessionId }, onlyFailures),
    rest: {
      ...givenFields({ clientId, error }),
      ...statusCondition(status),
      ...(path === undefined ? {} : { route: beginsWith(path) }),
    },
  };
}

export type RequestStore = ReturnType<typeof createRequestStore>;

export function createRequestStore(db: Db) {
  // Writes do not wait for the journal, because the loss of a row is acceptable.
  const requests = db.collection<RequestRecord>(collection, { writeConcern: { w: 1, journal: false } });
  return {
    async add(records: RequestRecord[]): Promise<void> {
      if (records.length > 0) await requests.insertMany(records, { ordered: false });
    },
    /** Removes the addresses, redirect URIs and shops from the requests of these sessions. */
    async forgetAddresses(sessionIds: readonly string[]): Promise<void> {
      const $unset = { address: '', redirectUri: '', shop: '' } as const;
      await requests.updateMany({ sessionId: { $in: [...sessionIds] } }, { $unset });
    },
    async find(id: string, now: Date): Promise<RequestRecord | undefined> {
      return (await requests.findOne({ _id: id, purgeAt: { $gt: now } })) ?? undefined;
    },

    /** Returns requests, the newest first. */
    list: ({ limit, after, ...wanted }: Wanted): Promise<Found<RequestRecord>> =>
      lookThrough(requests, { ...conditionsOf(wanted), by: 'at', limit, after }),

    count: (wanted: RequestFilter): Promise<Total> => countThrough(requests, conditionsOf(wanted)),

    /** Counts the exchanges since a time that a wallet could not pay for, by caller. */
    unpaid: (since: Date): Promise<UnpaidExchanges[]> =>
      requests
        .aggregate<UnpaidExchanges>(
          [
            ...failuresOfEach({ at: { $gte: since }, status: 402 }, [
              {
                $group: {
                  _id: { clientId: '$clientId', integrationId: '$integrationId', keyId: '$keyId' },
                  count: { $sum: 1 },
                  lastAt: { $max: '$at' },
                },
              },
              ...moveKeyToFields,
            ]),
          ],
          { hint: byPartner },
        )
        .toArray(),

    /** Counts the failed requests of a partner in a period, at most `mostCounted`. */
    failures: (partnerId: string, from: Date, to: Date): Promise<number> =>
      requests.countDocuments(
        { partnerId, at: { $gte: from, $lt: to }, ...failures },
        { limit: mostCounted, hint: indexFor({ partnerId }, true) },
      ),

    /** Counts the kinds of failed requests since a time. Partners take turns, each with its most frequent kind first. */
    recentErrors: (since: Date, limit: number): Promise<RecentError[]> =>
      requests
        .aggregate<RecentError>(
          [
            ...failuresOfEach({ at: { $gte: since }, ...failures }, [
              {
                $group: {
                  _id: { route: '$route', error: '$error', status: '$status', clientId: '$clientId' },
                  count: { $sum: 1 },
                  requestId: { $first: '$_id' },
                },
              },
              ...moveKeyToFields,
              { $set: { error: { $ifNull: ['$error', ''] } } },
              { $sort: { count: -1 } },
              { $limit: limit },
            ]),
            ...limitInTurns({ by: 'partnerId', sort: { count: -1 }, limit }),
          ],
          { hint: byPartner },
        )
        .toArray(),

    /**
     * Counts refused requests by partner, route and reason, the most frequent first. `countedSince` is later than `since` if
     * there are more requests than one count reads.
     */
    async refused({
      partnerId,
      since,
      until,
      limit,
    }: ListRefused): Promise<{ rows: Refused[]; countedSince: Date }> {
      const refusals = { ...givenFields({ partnerId }), ...period('at', since, until), ...failures };
      const newestFirst = { at: -1, _id: -1 } as const;
      const hint = indexFor({ partnerId }, true);
      const [rows, firstUncounted] = await Promise.all([
        requests
          .aggregate<Refused>(
            [
              { $match: refusals },
              { $sort: newestFirst },
              { $limit: mostCounted },
              {
                $group: {
                  _id: {
                    partnerId: '$partnerId',
                    route: '$route',
                    error: { $ifNull: ['$error', ''] },
                    limit: { $cond: [{ $eq: ['$error', 'rate_limited'] }, '$description', null] },
                  },
                  count: { $sum: 1 },
                  firstAt: { $last: '$at' },
                  lastAt: { $first: '$at' },
                  lastRequest: { $first: '$_id' },
                },
              },
              { $sort: { count: -1, lastAt: -1 } },
              { $limit: limit },
              ...moveKeyToFields,
            ],
            { hint },
          )
          .toArray(),
        requests.findOne(refusals, {
          hint,
          sort: newestFirst,
          skip: mostCounted,
          projection: { _id: 0, at: 1 },
        }),
      ]);
      return { rows, countedSince: firstUncounted?.at ?? new Date(since) };
    },
  };
}
