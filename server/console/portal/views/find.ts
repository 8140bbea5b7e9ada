import { type IdentifierKind, identifierKind, secretPrefixes } from '../../../../contracts/identifiers.ts';
import type { ApiError } from '../../../platform/errors.ts';
import { isAllowed } from '../calls/scope.ts';
import type { Messages } from '../messages/en.ts';
import type { PageRow } from './kit/page.ts';
import { queryOf } from './kit/text.ts';
import { entryPage } from './wallet/entry.ts';

/** The pages of records, by the kind of their ids. */
const pathOfKind: Partial<Record<IdentifierKind, string>> = {
  client: '/clients',
  apiKey: '/keys',
  integration: '/integrations',
  session: '/sessions',
  enrollment: '/users',
  delivery: '/deliveries',
  bulkJob: '/bulk',
  entry: entryPage.path,
  member: '/members',
};

const reasonOfKind: Partial<Record<IdentifierKind, keyof Messages>> = {
  // The id of a user is the same for all partners. With pages about it, two partners could find out which users they share.
  user: 'isUserOfOperator',
  passkey: 'isUserOfOperator',
  operator: 'isOperator',
};

/** A subject has 43 characters (base64url of 32 bytes). */
const subject = /^[\w-]{43}$/;
const plainId = /^[\w-]{1,128}$/;

const isSecret = (text: string) => Object.values(secretPrefixes).some((prefix) => text.startsWith(prefix));

/**
 * Finds the page that shows a record by any id: of a record, a subject, or a request. An id that does not exist is answered by
 * that page.
 * @returns `to`: the path within the portal; `why`: the message that says why no page has such ids
 */
export function placeOf(id: string, partnerId: string): { to: string } | { why: keyof Messages } {
  if (subject.test(id)) return { to: `/users?${queryOf({ sub: id })}` };
  if (isSecret(id)) return { why: 'isSecret' };
  if (!plainId.test(id)) return { why: 'isNoId' };
  if (id === partnerId) return { to: '/' };
  // The id of a refund is that of its charge, with `rev_` before it.
  const kind = identifierKind(id.replace(/^rev_/, ''));
  if (kind === 'event') return { to: `/deliveries?${queryOf({ eventId: id })}` };
  if (kind !== undefined) {
    const path = pathOfKind[kind];
    return path ? { to: `${path}/${id}` } : { why: reasonOfKind[kind] ?? 'noRecord' };
  }
  return { to: `/requests/${id}` };
}

/** The lists that link to records whose own topic has no list. */
const listOfTopic: Readonly<Record<string, string>> = { integrations: '/clients', bulk: '/deliveries' };

/** The list in which a page's record would be; undefined for a page that is no record. */
function listOf({ path }: Pick<PageRow, 'path'>, pages: readonly PageRow[]): PageRow | undefined {
  const [, topic = ''] = path.split('/');
  const list = listOfTopic[topic] ?? `/${topic}`;
  return pages.find((page) => page.path === list);
}

/**
 * The page that is shown instead of one that cannot be, below the error. It has the menu, and says where to look.
 * @param page the page that was asked for
 */
export function errorPage(
  { status }: ApiError,
  page: Pick<PageRow, 'path'>,
  pages: readonly PageRow[],
): PageRow {
  const list = listOf(page, pages);
  return {
    path: list?.path ?? page.path,
    needs: 'partners.show',
    view: async ({ m, role, request }) => {
      const title = status === 404 ? m.notFound : m.problem;
      const found = list?.nav && isAllowed(role, list.needs) ? [{ text: m[list.nav], to: list.path }] : [];
      return {
        title,
        sections: [
          {
            title,
            note: status === 404 && found.length > 0 ? m.whereToLook : undefined,
            facts: [[m.request, { text: request.id, isCommand: true }]],
            links: [...found, { text: m.overview, to: '/' }],
          },
        ],
      };
    },
  };
}

export const findPath = '/find';

/** The page that says why an id leads to no page. @param why as `placeOf` returns it */
export const notFoundPage = (why: keyof Messages): PageRow => ({
  path: findPath,
  needs: 'partners.show',
  view: async ({ m }) => ({
    title: m.notFound,
    status: 404,
    sections: [{ title: m.notFound, note: m[why] }],
  }),
});
