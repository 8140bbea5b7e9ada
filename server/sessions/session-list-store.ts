import type { Collection, Document, Filter } from 'mongodb';
import type { Total } from '../../contracts/admin/references.ts';
import type { ListSessions } from '../../contracts/admin/sessions.ts';
import {
  countThrough,
  type Found,
  givenFields,
  lookThrough,
  period,
} from '../platform/database/reads/look-through.ts';
import { sha256 } from '../platform/ids.ts';
import type { Session } from './session.ts';

/** The first half of a SHA-256: enough to find a session by its `state`, and shorter in the index. */
export const stateHashOf = (state: string): string => sha256(state).slice(0, 22);

export interface SessionFilter extends Omit<ListSessions, 'enrollmentId' | 'limit' | 'after'> {
  /** One enrollment of one user, by the names that sessions have for both ids. */
  enrollment?: { userId: string; enrollmentId: string } | undefined;
  now: Date;
}

export interface SessionSearch extends SessionFilter, Pick<ListSessions, 'limit'> {
  /** The last session of the page before. */
  after?: Session | undefined;
}

/** The condition for a status in a list. `open`, `failed` and `expired` are not stored: they follow from other fields. */
export function withStatus(status: SessionFilter['status'], now: Date): Filter<Session> {
  const unfinished = { status: { $ne: 'complete' as const }, failure: { $exists: false } };
  switch (status) {
    case undefined:
      return {};
    case 'failed':
      return { failure: { $exists: true } };
    case 'expired':
      return { ...unfinished, expiresAt: { $lte: now } };
    case 'open':
      return { ...unfinished, expiresAt: { $gt: now } };
    case 'pending':
    case 'authenticated':
    case 'verified':
    case 'complete':
      return { status };
  }
}

/**
 * The index for a filter, by the condition that the fewest sessions meet. All other indexes also give the order by time.
 * The first two do not, because one user or one `state` has few sessions, which the database sorts.
 */
function indexFor(filter: SessionFilter): Document {
  const { enrollment, stateHash, clientReferenceId, clientId, partnerId } = filter;
  if (enrollment) return { userId: 1 };
  if (stateHash) return { stateHash: 1 };
  const newestFirst = { createdAt: -1, _id: -1 };
  if (clientReferenceId) return { clientReferenceId: 1, ...newestFirst };
  if (clientId) return { clientId: 1, ...newestFirst };
  return partnerId ? { partnerId: 1, ...newestFirst } : newestFirst;
}

/**
 * Divides a filter into the conditions that an index serves (`indexed`, with the index `hint`) and all others (`rest`).
 * A search reads a bounded number of sessions that meet the first, and picks from these by the others.
 */
function divide(filter: SessionFilter) {
  const { partnerId, clientId, enrollment, stateHash, clientReferenceId } = filter;
  const { mode, status, since, until, now } = filter;
  return {
    indexed: {
      ...enrollment,
      ...givenFields({ partnerId, clientId, stateHash, clientReferenceId }),
      ...period('createdAt', since, until),
    },
    hint: indexFor(filter),
    rest: { ...givenFields({ mode }), ...withStatus(status, now) },
  };
}

/** Sessions as operators list them, newest first. */
export function listSessions(sessions: Collection<Session>, search: SessionSearch): Promise<Found<Session>> {
  const { limit, after } = search;
  return lookThrough(sessions, { ...divide(search), by: 'createdAt', limit, after });
}

export const countSessions = (sessions: Collection<Session>, filter: SessionFilter): Promise<Total> =>
  countThrough(sessions, divide(filter));
