import type { FastifyReply, FastifyRequest } from 'fastify';
import { isOwnOrigin } from '../../platform/http/csrf.ts';
import { isLanguage, type Language } from './languages.ts';

/** Holds for every session of this browser, until it is closed: above what the partner asked for. */
const cookie = 'svc_language';
const parameter = 'lang';
/** A query longer than this is not repeated in the links: the page would weigh too much. */
const longest = 2400;

function split(url: string): { path: string; parameters: string[] } {
  const [path = '', query = ''] = url.split('?');
  return { path, parameters: query.split('&').filter((part) => part !== '') };
}

const isChoice = (part: string) => part === parameter || part.startsWith(`${parameter}=`);

/** The language that the person has chosen by one of our links. */
export function languageChosen({ cookies }: Pick<FastifyRequest, 'cookies'>): Language | undefined {
  const chosen = cookies[cookie];
  return isLanguage(chosen) ? chosen : undefined;
}

/**
 * The address of the same page in another language: relative, to be completed by the language. Only a
 * page that depends on its query keeps it: what a provider or a partner has sent is not repeated.
 */
export function choiceAddress({ url, method }: Pick<FastifyRequest, 'url' | 'method'>): string {
  const { path, parameters } = split(url);
  const depends = method === 'GET' && /\/verify\/(start|test-wallet|p\/[^/]+)\/?$/.test(path);
  const others = depends ? parameters.filter((part) => !isChoice(part)).join('&') : '';
  return `?${others === '' || others.length > longest ? '' : `${others}&`}${parameter}=`;
}

/**
 * Follows a link to another language: keeps the choice in a cookie, and leads back to the page without it. Our
 * own pages' links only: no other site chooses for its visitors.
 * @returns whether the request was such a link, and is answered
 */
export function followChoice(
  { url, method, headers }: FastifyRequest,
  reply: FastifyReply,
  { root, secure }: { root: string; secure: boolean },
): boolean {
  const { path, parameters } = split(url);
  const [chosen] = parameters.filter(isChoice).map((part) => part.slice(parameter.length + 1));
  if (method !== 'GET' || !isLanguage(chosen) || !isOwnOrigin(headers, '')) return false;
  const others = parameters.filter((part) => !isChoice(part)).join('&');
  // Relative: a proxy may have removed a part of the path, and a path can look like a host.
  const page = `./${path.slice(path.lastIndexOf('/') + 1)}`;
  void reply
    .setCookie(cookie, chosen, { path: root, httpOnly: true, sameSite: 'lax', secure })
    .redirect(others === '' ? page : `${page}?${others}`, 303);
  return true;
}
