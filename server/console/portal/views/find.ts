import { type IdentifierKind, identifierKind } from '../../../../contracts/identifiers.ts';
import { queryOf } from './kit/text.ts';

/** The pages of records, by the kind of their ids. */
const pathOfKind: Partial<Record<IdentifierKind, string>> = {
  client: '/clients',
  apiKey: '/keys',
  integration: '/integrations',
  session: '/sessions',
  enrollment: '/users',
  delivery: '/deliveries',
  bulkJob: '/bulk',
  member: '/members',
};

/** A subject has 43 characters (base64url of 32 bytes). */
const subject = /^[\w-]{43}$/;
const plainId = /^[\w-]{1,128}$/;

/**
 * Finds the page that shows a record by any id: of a record, a subject, or a request. An id that does not exist is answered by
 * that page.
 * @returns the path within the portal; undefined if no page has such ids
 */
export function placeOf(id: string): string | undefined {
  if (!plainId.test(id)) return undefined;
  const kind = identifierKind(id);
  if (kind === 'event') return `/deliveries?${queryOf({ eventId: id })}`;
  if (kind !== undefined) return pathOfKind[kind] && `${pathOfKind[kind]}/${id}`;
  return subject.test(id) ? `/users?${queryOf({ sub: id })}` : `/requests/${id}`;
}
