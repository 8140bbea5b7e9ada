import { absoluteUriFault } from '../../../contracts/absolute-uri.ts';
import type { Mode } from '../../../contracts/identifiers.ts';

const loopback = new Set(['localhost', '127.0.0.1']);
/** Parameters that the service adds to a redirect. A registered one could be taken for them. */
const ownParameters = ['code', 'state', 'iss', 'error', 'error_description', 'session_id'];

/**
 * The names of a query's parameters as the most tolerant programs read them: some separate parameters by `;` too, and
 * PHP and Ruby read `code[]` as a list named `code`.
 */
const parameterNames = ({ search }: URL): string[] =>
  [...new URLSearchParams(search.replaceAll(';', '&')).keys()].map((name) =>
    name.replace(/\[.*/s, '').trim(),
  );

/**
 * Returns why `uri` may not be registered for a client of this mode; undefined if it may (docs/choices.md).
 * Redirect URIs are stored and compared byte for byte, so the URI is not normalised.
 */
export function redirectUriFault(uri: string, mode: Mode): string | undefined {
  const fault = absoluteUriFault(uri);
  if (fault !== undefined) return fault;
  const url = new URL(uri);
  const names = parameterNames(url);
  const own = ownParameters.find((name) => names.includes(name));
  if (own !== undefined) return `must not have the parameter ${own} in its query: the redirect adds it`;
  if (url.protocol === 'https:') return undefined;
  if (mode === 'live') return 'must be https for a live client';
  if (url.protocol === 'http:' && loopback.has(url.hostname)) return undefined;
  return 'must be https, or http://localhost or http://127.0.0.1 for a test client';
}
