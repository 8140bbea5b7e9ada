import type { Collection, Document, Filter } from 'mongodb';
import type { ListSessions } from '../../../contracts/admin/sessions.ts';
import { type Found, givenFields, lookThrough, period } from '../../platform/database/look-through.ts';
import type { Session } from './transitions.ts';

/** Which sessions a list is about, and where it begins. */
export interface SessionSearch extends Pick<ListSessions, 'limit'> {
  partnerId?: string | undefined;
  clientId?: string | undefined;
  /** One enrollment of one user. */
  of?: { userId: string; enrollmentId: string } | undefined;
  mode?: ListSessions['mode'] | undefined;
  status?: ListSessions['status'] | undefined;
  since?: string | undefined;
  until?: string | undefined;
  now: Date;
  after?: Session | undefined;
}

/** The condition that no index serves: the last status, or the reason of a failure. */
function inState(status: SessionSearch['status'], now: Date): Filter<Session> {
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

/** By user where there is one: a user has few sessions. */
function indexFor({ of, clientId, partnerId }: SessionSearch): Document {
  if (of) return { userId: 1 };
  const newestFirst = { createdAt: -1, _id: -1 };
  if (clientId) return { clientId: 1, ...newestFirst };
  return partnerId ? { partnerId: 1, ...newestFirst } : newestFirst;
}

/** Sessions as operators list them, newest first. */
export function listSessions(sessions: Collection<Session>, search: SessionSearch): Promise<Found<Session>> {
  const { partnerId, clientId, of, mode, status, since, until, now, limit, after } = search;
  return lookThrough(sessions, {
    indexed: { ...of, ...givenFields({ partnerId, clientId }), ...period('createdAt', since, until) },
    hint: indexFor(search),
    rest: { ...givenFields({ mode }), ...inState(status, now) },
    by: 'createdAt',
    limit,
    after: after && { _id: after._id, at: after.createdAt },
  });
}
