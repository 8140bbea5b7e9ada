import type { Db } from 'mongodb';
import type { Mode } from '../../../contracts/identifiers.ts';
import { ownerOfWallet } from '../../billing/ledger/ledger-page.ts';
import { daysLeftOf } from '../../billing/wallets/wallet-list.ts';
import { createWalletSummaryStore } from '../../billing/wallets/wallet-summary-store.ts';
import { createClientStore } from '../../partners/clients/client-store.ts';
import { createPartnerStore } from '../../partners/partner-store.ts';
import { limitInTurns } from '../../platform/database/reads/in-turns.ts';
import { minute } from '../../platform/http/limits/windows.ts';
import { collection as deliveryCollection, failedByKey } from '../../webhooks/delivery/delivery-store.ts';
import { newestFailedOfKeys } from '../../webhooks/operators/endpoints/health-store.ts';
import { type Backlog, type BacklogStore, dueBefore, lateAfterMs } from '../metrics/backlog-store.ts';
import type { RequestGapStore } from '../requests/request-gap-store.ts';
import type { RecentError, RequestStore } from '../requests/request-store.ts';
import { collection as warningCollection } from '../warnings/warning-store.ts';
import { findTroubledCallers, type TroubledCaller } from './troubled-callers.ts';

/** The partner and the mode that a row belongs to. */
export interface Owner {
  partnerId: string;
  /** The partner's name, or the partner's id if the name is not known. */
  partner: string;
  mode: Mode;
}

/** Figures for the ops page, read from the records of all features. */
export interface Overview extends Backlog {
  lateByMode: Record<Mode, number>;
  /** Endpoints with failed deliveries in the last day. Partners take turns, each with its worst first; so in all lists here. */
  failingEndpoints: (Owner & { keyId: string; failed: number; lastError: string })[];
  /** The next attempts, the earliest first. */
  nextAttempts: (Owner & {
    deliveryId: string;
    event: string;
    attempt: number;
    at: Date;
    lastError: string;
  })[];
  /** Requests that failed in the last minutes, by error. */
  recentErrors: (Partial<Owner> & Omit<RecentError, 'clientId' | 'partnerId'>)[];
  /** Since when requests of the last minutes were dropped from the log, in RFC 3339; null if none was. */
  sampledSince: string | null;
  /** Partners that are refused although they should not call, or far more often than usual. */
  troubledCallers: (TroubledCaller & { partner: string })[];
  lowWallets: (Owner & { balance: number; daysLeft: number | null })[];
  /** Warnings to partners that are still open. */
  warnings: (Owner & { kind: string; text: string; since: Date })[];
  /** Wallets that have reached their cap in the current minute or hour. */
  cappedWallets: (Owner & { bucket: 'minute' | 'hour'; limit: number })[];
}

const day = 86_400_000;
/** The page shows the errors of requests of the last minutes: this many. */
export const recentMinutes = 15;
/** A live wallet with a balance below this, in cents, is nearly empty. */
const lowBalanceCents = 1_000;
const mostRows = 20;
/** The most documents that are read for one figure of the page. */
const mostRead = 10_000;
const mostKeys = 100;
const mostOfKey = 1_000;

const lastAnswer = { $ifNull: [{ $toString: '$last.status' }, { $ifNull: ['$last.error', ''] }] };
/** The expression for the last error of a delivery, in words if there are any. */
const lastError = { $ifNull: ['$last.detail', lastAnswer] };

/** The rows of a part of the overview as they are read, before the names of partners are added. */
type Part<K extends keyof Overview> = Overview[K] extends (infer Row)[] ? Omit<Row, 'partner'>[] : never;

interface Sources {
  backlog: Pick<BacklogStore, 'read'>;
  requests: Pick<RequestStore, 'recentErrors' | 'failures'>;
  gaps: Pick<RequestGapStore, 'sampledSince'>;
}

export type OverviewStore = ReturnType<typeof createOverviewStore>;

export function createOverviewStore(db: Db, { backlog, requests, gaps }: Sources) {
  const deliveries = db.collection(deliveryCollection);
  const wallets = createWalletSummaryStore(db);
  const clients = createClientStore(db);
  const partners = createPartnerStore(db);

  async function readLateByMode(at: Date): Promise<Overview['lateByMode']> {
    const [late, moved] = dueBefore(new Date(at.getTime() - lateAfterMs));
    const limit = mostRead;
    // Each mode has a count of its own, so that one partner's late tests hide no late live deliveries.
    const countOf = async (mode: Mode) => {
      const counts = await Promise.all([
        deliveries.countDocuments({ ...late, mode }, { limit, hint: { nextAttemptAt: 1 } }),
        deliveries.countDocuments({ ...moved, mode }, { limit, hint: { 'overdue.since': 1 } }),
      ]);
      return Math.min(counts[0] + counts[1], limit);
    };
    const [live, test] = await Promise.all([countOf('live'), countOf('test')]);
    return { live, test };
  }

  /** Reads the newest failed delivery of each key, and then those of the keys that take turns. */
  const readFailingEndpoints = (at: Date) => {
    const since = new Date(at.getTime() - day);
    return deliveries
      .aggregate<Part<'failingEndpoints'>[number]>(
        [
          ...newestFailedOfKeys,
          { $match: { at: { $gt: since } } },
          ...limitInTurns({ by: 'partnerId', sort: { mode: 1 }, limit: mostKeys }),
          {
            $lookup: {
              from: deliveryCollection,
              localField: '_id',
              foreignField: 'keyId',
              pipeline: [
                { $match: { status: 'failed', createdAt: { $gt: since } } },
                { $sort: { createdAt: -1 } },
                { $limit: mostOfKey },
                // Samples do not count. They are left out after the limit, which bounds how many documents are read.
                { $match: { trigger: { $ne: 'test' } } },
                { $group: { _id: null, failed: { $sum: 1 }, last: { $first: { $last: '$attempts' } } } },
                { $project: { _id: 0, failed: 1, lastError } },
              ],
              as: 'found',
            },
          },
          { $unwind: '$found' },
          { $replaceWith: { $mergeObjects: ['$$ROOT', '$found'] } },
          ...limitInTurns({ by: 'partnerId', sort: { failed: -1 }, limit: mostRows }),
          { $project: { _id: 0, keyId: '$_id', partnerId: 1, mode: 1, failed: 1, lastError: 1 } },
        ],
        { hint: failedByKey },
      )
      .toArray();
  };

  const readNextAttempts = () =>
    deliveries
      .aggregate<Part<'nextAttempts'>[number]>(
        [
          { $match: { status: 'pending' } },
          { $sort: { nextAttemptAt: 1 } },
          { $limit: mostRead },
          ...limitInTurns({ by: 'partnerId', sort: { nextAttemptAt: 1 }, limit: mostRows }),
          { $sort: { nextAttemptAt: 1 } },
          { $set: { last: { $last: '$attempts' } } },
          {
            $project: {
              _id: 0,
              deliveryId: '$_id',
              event: '$type',
              partnerId: 1,
              mode: 1,
              attempt: 1,
              lastError,
              at: '$nextAttemptAt',
            },
          },
        ],
        { hint: { nextAttemptAt: 1 } },
      )
      .toArray();

  /** The failed requests of the last minutes, and the partners for which they are a problem. */
  async function readRecentErrors(at: Date) {
    const from = new Date(at.getTime() - recentMinutes * minute);
    const [errors, sampledSince] = await Promise.all([
      requests.recentErrors(from, mostRows),
      gaps.sampledSince({ since: from.toISOString(), status: '4xx' }),
    ]);
    const troubled = await findTroubledCallers(partners, { errors, from, to: at }, requests.failures);
    return { errors: await withModes(errors), troubled, sampledSince };
  }

  async function withModes(errors: readonly RecentError[]): Promise<Part<'recentErrors'>> {
    const found = await clients.findAll(errors.flatMap(({ clientId }) => clientId ?? []));
    const modes = new Map(found.map((client) => [client?._id, client?.mode]));
    return errors.map(({ clientId = '', ...error }) => {
      const mode = modes.get(clientId);
      return { ...error, ...(mode ? { mode } : {}) };
    });
  }

  /** Reads the wallets that are nearly empty. A wallet without entries (`seq` 0) was never funded, so it does not count. */
  async function readLowWallets(): Promise<Part<'lowWallets'>> {
    const found = await wallets.below(['live'], lowBalanceCents, mostRows);
    return found.map((wallet) => ({
      ...ownerOfWallet(wallet._id),
      balance: wallet.balance,
      daysLeft: daysLeftOf(wallet),
    }));
  }

  /** Reads the wallets whose spend cap is reached, each with the cap: of a minute or of an hour (`bucket`). */
  async function readCappedWallets(at: Date): Promise<Part<'cappedWallets'>> {
    const found = (await wallets.capped(at)).slice(0, mostRows);
    return found.flatMap(({ _id, capped }) =>
      capped ? [{ ...ownerOfWallet(_id), bucket: capped.bucket, limit: capped.limit }] : [],
    );
  }

  /** Reads the open warnings. A problem without `raisedAt` has not lasted long enough to be a warning. */
  const readWarnings = (): Promise<Part<'warnings'>> =>
    db
      .collection(warningCollection)
      .aggregate<Part<'warnings'>[number]>([
        { $match: { open: true, raisedAt: { $exists: true } } },
        { $sort: { since: -1, _id: -1 } },
        { $limit: mostRead },
        ...limitInTurns({ by: 'partnerId', sort: { since: -1 }, limit: mostRows }),
        { $project: { _id: 0, partnerId: 1, mode: 1, kind: 1, text: 1, since: 1 } },
      ])
      .toArray();

  /** Reads the names of the partners in these rows. Returns a function that adds the partner's name to a row. */
  async function createNaming(rows: readonly { partnerId?: string | undefined }[]) {
    const names = await partners.names(rows.flatMap(({ partnerId }) => partnerId ?? []));
    return <T extends { partnerId: string }>(row: T) => ({
      ...row,
      partner: names.get(row.partnerId) ?? row.partnerId,
    });
  }

  return {
    async read(now: number): Promise<Overview> {
      const at = new Date(now);
      const [waiting, lateByMode, failing, next, { errors, troubled, sampledSince }, low, capped, warnings] =
        await Promise.all([
          backlog.read(now),
          readLateByMode(at),
          readFailingEndpoints(at),
          readNextAttempts(),
          readRecentErrors(at),
          readLowWallets(),
          readCappedWallets(at),
          readWarnings(),
        ]);
      const withName = await createNaming([
        ...[...failing, ...next, ...errors, ...troubled, ...low, ...capped, ...warnings],
      ]);
      return {
        ...waiting,
        lateByMode,
        failingEndpoints: failing.map(withName),
        nextAttempts: next.map(withName),
        // A request that names no known client has no partner.
        recentErrors: errors.map(({ partnerId, ...row }) =>
          partnerId ? withName({ ...row, partnerId }) : row,
        ),
        sampledSince,
        troubledCallers: troubled.map(withName),
        lowWallets: low.map(withName),
        cappedWallets: capped.map(withName),
        warnings: warnings.map(withName),
      };
    },
  };
}
