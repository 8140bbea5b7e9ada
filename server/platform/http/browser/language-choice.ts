import type { FastifyReply, FastifyRequest } from 'fastify';
import { pathOf, queryOf } from '../parameters.ts';
import { isOwnOrigin } from './csrf.ts';
import { isLanguage, type Language } from './language.ts';

/** The choice holds for every session in this browser until it is closed. It overrides the partner's `ui_locales`. */
const cookie = 'svc_language';
const parameter = 'lang';
/** A longer query is not repeated in the links, to keep the page small. */
const maxQueryLength = 2400;

/** Splits an address. `chosen`: the language that its query chooses; undefined if it chooses none. */
function split(url: string): { path: string; chosen: string | undefined; otherParameters: string } {
  const parameters = queryOf(url)
    .split('&')
    .filter((part) => part !== '');
  const isChoice = (part: string) => part === parameter || part.startsWith(`${parameter}=`);
  return {
    path: pathOf(url),
    chosen: parameters.find(isChoice)?.slice(parameter.length + 1),
    otherParameters: parameters.filter((part) => !isChoice(part)).join('&'),
  };
}

/** The language that the person has chosen by one of our links. */
export function languageChosen({ cookies }: Pick<FastifyRequest, 'cookies'>): Language | undefined {
  const chosen = cookies[cookie];
  return isLanguage(chosen) ? chosen : undefined;
}

/**
 * Returns the relative address of the same page in another language. The code of the language has to be appended. The
 * query is kept only if the page depends on it.
 * @param pageAfterForm the path of a page to show in place of the answer to a form: a link to the answer's own address would
 * be a GET, which that address may not have. Empty for the same address.
 */
export function choiceAddress(
  { url, method }: Pick<FastifyRequest, 'url' | 'method'>,
  pageAfterForm: string,
): string {
  if (method === 'POST') return `${pageAfterForm}?${parameter}=`;
  const { path, otherParameters } = split(url);
  const dependsOnQuery = /\/verify\/(start|test-wallet|you|p\/[^/]+)\/?$/.test(path);
  const isRepeated = dependsOnQuery && otherParameters !== '' && otherParameters.length <= maxQueryLength;
  return isRepeated ? `?${otherParameters}&${parameter}=` : `?${parameter}=`;
}

/**
 * Follows a link to another language: stores the choice in a cookie, and redirects to the page without the
 * parameter. Only links of our own pages are followed, so that no other site can choose.
 * @returns whether the request was such a link and has been answered
 */
export function followChoice(
  { url, method, headers }: FastifyRequest,
  reply: FastifyReply,
  { root, secure }: { root: string; secure: boolean },
): boolean {
  const { path, chosen, otherParameters } = split(url);
  // A GET has no `Origin` to compare, so only `Sec-Fetch-Site` counts.
  const isOwnLink = isOwnOrigin(headers, '');
  if (method !== 'GET' || !isLanguage(chosen) || !isOwnLink) return false;
  // A relative address, because a proxy may have removed the first part of the path. Besides, a path such as
  // `//example.com` would be read as the address of another host.
  const page = `./${path.slice(path.lastIndexOf('/') + 1)}`;
  void reply
    .setCookie(cookie, chosen, { path: root, httpOnly: true, sameSite: 'lax', secure })
    .redirect(otherParameters === '' ? page : `${page}?${otherParameters}`, 303);
  return true;
}
