import { createHash } from 'node:crypto';
import { demand, PresentationRefused } from '../refused.ts';
import { isObject, parseJson } from './json.ts';

type Path = readonly (string | number)[];
type Json = Readonly<Record<string, unknown>>;

/** How many values a disclosure has, for a member of an object and for an element of a list; see `parseDisclosure`. */
const memberLength = 3;
const elementLength = 2;

/** The deepest nesting of claims. Claims of a person are less deep. */
const maxDepth = 8;
const mostDisclosures = 64;

/** Parses a disclosure: `[salt, name, value]` for objects, `[salt, value]` for arrays. */
function parseDisclosure(text: string): readonly unknown[] {
  try {
    const bytes = Buffer.from(text, 'base64url');
    const parsed = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (Array.isArray(parsed) && typeof parsed[0] === 'string') return parsed;
  } catch {
    // Refused below, like everything else that is not a disclosure.
  }
  throw new PresentationRefused('malformed', 'disclosure');
}

/**
 * Replaces the digests in an SD-JWT by the disclosed values (RFC 9901 7.1).
 * @returns the claims without digests, and the path of each disclosed value
 * @throws PresentationRefused if the claims do not have the digest of a disclosure, or have it twice
 */
export function applyDisclosures(payload: Json, disclosures: readonly string[]) {
  demand(disclosures.length <= mostDisclosures, 'more than was asked for', 'disclosures');
  demand((payload['_sd_alg'] ?? 'sha-256') === 'sha-256', 'malformed', 'digest algorithm');
  const unused = new Map<string, readonly unknown[]>();
  for (const text of disclosures) {
    const digest = createHash('sha256').update(text).digest('base64url');
    demand(!unused.has(digest), 'malformed', 'disclosure twice');
    unused.set(digest, parseDisclosure(text));
  }
  const seen = new Set<string>();
  const disclosed: Path[] = [];

  /**
   * Returns the disclosure with a digest; undefined if the holder keeps the value hidden. Each digest is used once.
   * @param length how many values the disclosure must have
   */
  function disclosureOf(digest: unknown, length: number): readonly unknown[] | undefined {
    demand(typeof digest === 'string' && !seen.has(digest), 'malformed', 'digest twice');
    seen.add(digest);
    const disclosure = unused.get(digest);
    demand(disclosure === undefined || disclosure.length === length, 'malformed', 'disclosure');
    unused.delete(digest);
    return disclosure;
  }

  /** Returns a value with disclosed values in place of their digests, at any depth. Hidden values are left out. */
  function replaceDigests(value: unknown, path: Path): unknown {
    demand(path.length <= maxDepth, 'malformed', 'claims');
    if (Array.isArray(value)) return replaceInArray(value, path);
    return isObject(value) ? replaceInObject(value, path) : value;
  }

  /** In a list, an object `{"...": digest}` stands for an element that can be disclosed (RFC 9901 4.2.4.2). */
  function replaceInArray(values: readonly unknown[], path: Path): unknown[] {
    const plain: unknown[] = [];
    for (const value of values) {
      const valuePath = [...path, plain.length];
      const isDigest = isObject(value) && Object.hasOwn(value, '...');
      if (!isDigest) {
        plain.push(replaceDigests(value, valuePath));
        continue;
      }
      demand(Object.keys(value).length === 1, 'malformed', 'disclosure');
      const found = disclosureOf(value['...'], elementLength);
      if (!found) continue;
      const [, element] = found;
      disclosed.push(valuePath);
      plain.push(replaceDigests(element, valuePath));
    }
    return plain;
  }

  /** In an object, `_sd` lists the digests of the members that can be disclosed (RFC 9901 4.2.4.1). */
  function replaceInObject({ _sd: digests = [], ...members }: Json, path: Path): Json {
    demand(Array.isArray(digests), 'malformed', 'digests');
    const plain = new Map<string, unknown>();
    for (const [name, value] of Object.entries(members)) {
      // At the top, `_sd_alg` names the digest algorithm and is no claim.
      if (name !== '_sd_alg' || path.length > 0) plain.set(name, replaceDigests(value, [...path, name]));
    }
    for (const digest of digests) {
      const found = disclosureOf(digest, memberLength);
      if (!found) continue;
      const [, name, value] = found;
      const isNewName = typeof name === 'string' && name !== '_sd' && name !== '...' && !plain.has(name);
      demand(isNewName, 'malformed', 'disclosure');
      disclosed.push([...path, name]);
      plain.set(name, replaceDigests(value, [...path, name]));
    }
    return Object.fromEntries(plain);
  }

  const claims = replaceInObject(payload, []);
  demand(unused.size === 0, 'malformed', 'a disclosure without a digest');
  return { claims, disclosed };
}
