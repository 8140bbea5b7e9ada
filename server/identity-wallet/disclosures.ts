import { createHash } from 'node:crypto';
import { parseJson } from './json.ts';
import { demand, PresentationRefused } from './refused.ts';

type Path = readonly (string | number)[];
type Json = Readonly<Record<string, unknown>>;

/** The deepest nesting of claims. Claims of a person are less deep. */
const maxDepth = 8;
const mostDisclosures = 64;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

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

  /** Returns the disclosure with a digest; undefined if the holder keeps the value hidden. Each digest is used once. */
  function disclosureOf(digest: unknown, length: number): readonly unknown[] | undefined {
    demand(typeof digest === 'string' && !seen.has(digest), 'malformed', 'digest twice');
    seen.add(digest);
    const disclosure = unused.get(digest);
    demand(disclosure === undefined || disclosure.length === length, 'malformed', 'disclosure');
    unused.delete(digest);
    return disclosure;
  }

  function replaceDigests(value: unknown, path: Path): unknown {
    demand(path.length <= maxDepth, 'malformed', 'claims');
    if (Array.isArray(value)) return replaceInArray(value, path);
    return isObject(value) ? replaceInObject(value, path) : value;
  }

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
      const found = disclosureOf(value['...'], 2);
      if (!found) continue;
      disclosed.push(valuePath);
      plain.push(replaceDigests(found[1], valuePath));
    }
    return plain;
  }

  function replaceInObject({ _sd: digests = [], ...open }: Json, path: Path): Json {
    demand(Array.isArray(digests), 'malformed', 'digests');
    const plain = new Map<string, unknown>();
    for (const [name, value] of Object.entries(open)) {
      if (name !== '_sd_alg' || path.length > 0) plain.set(name, replaceDigests(value, [...path, name]));
    }
    for (const digest of digests) {
      const found = disclosureOf(digest, 3);
      if (!found) continue;
      const [, name, value] = found;
      const fits = typeof name === 'string' && name !== '_sd' && name !== '...' && !plain.has(name);
      demand(fits, 'malformed', 'disclosure');
      disclosed.push([...path, name]);
      plain.set(name, replaceDigests(value, [...path, name]));
    }
    return Object.fromEntries(plain);
  }

  const claims = replaceInObject(payload, []);
  demand(unused.size === 0, 'malformed', 'a disclosure without a digest');
  return { claims, disclosed };
}
