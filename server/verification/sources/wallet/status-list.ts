import { promisify } from 'node:util';
import { inflate } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { asBytes, asMap, certificatesOf, checkSign1, decodeCbor, parseSign1 } from './cbor.ts';
import { type Certificate, validatePath } from './certificates.ts';
import { certificatesOfJwt, readJwt } from './jwt.ts';
import { demand, PresentationRefused } from './refused.ts';

/** The place of an attestation's status in a list (Token Status List, section 6). */
export interface StatusReference {
  index: number;
  uri: string;
}

/** Gets a status list token. Only public addresses, a bounded body, no redirects. */
export type FetchStatusList = (uri: string) => Promise<{ type: string; body: Uint8Array }>;

/** The types of status list tokens, in JWT and in CWT. */
export const statusListTypes = { jwt: 'application/statuslist+jwt', cwt: 'application/statuslist+cwt' };

/** Bytes of a list: 64 million attestations. */
const largestListBytes = 8 * 1024 * 1024;
const mostLists = 50;
/** Bytes of all lists that are kept. */
const cacheBytes = 64 * 1024 * 1024;
/** Seconds that a list without a `ttl` is kept, and any list at most. */
const defaultLifetimeSeconds = 300;
const longestLifetimeSeconds = 86_400;

const Claims = z.object({
  sub: z.string(),
  iat: z.number().optional(),
  exp: z.number().optional(),
  ttl: z.number().positive().optional(),
  status_list: z.object({
    bits: z.union([z.literal(1), z.literal(2), z.literal(4), z.literal(8)]),
    lst: z.union([z.string(), z.instanceof(Uint8Array)]),
  }),
});

interface Trust {
  anchors: readonly Certificate[];
  now: number;
}

async function claimsOfJwt(body: Uint8Array, trust: Trust): Promise<unknown> {
  const jwt = Buffer.from(body).toString('latin1').trim();
  const signer = validatePath(certificatesOfJwt(jwt), trust);
  const key = signer.x509.publicKey;
  return readJwt(jwt, { type: 'statuslist+jwt', key, refusal: 'status unknown' });
}

/** Labels of the claims of a CWT (RFC 8392 4; Token Status List 5.2). */
function claimsOfCwt(body: Uint8Array, trust: Trust): unknown {
  const sign1 = parseSign1(decodeCbor(body), 'status list');
  demand(sign1.protectedHeaders.get(16) === statusListTypes.cwt, 'status unknown', 'type');
  const signer = validatePath(certificatesOf(sign1), trust);
  const payload = asBytes(sign1.payload, 'status list');
  checkSign1(sign1, { key: signer.x509.publicKey, payload, refusal: 'status unknown' });
  const claims = asMap(decodeCbor(payload), 'status list');
  const list = asMap(claims.get(65533), 'status list');
  return {
    sub: claims.get(2),
    exp: claims.get(4),
    iat: claims.get(6),
    ttl: claims.get(65534),
    status_list: { bits: list.get('bits'), lst: list.get('lst') },
  };
}

interface List {
  bits: number;
  bytes: Buffer;
  /** Milliseconds since the epoch. */
  until: number;
}

/** Statuses of attestations, from the lists that their issuers publish. */
export function createStatusLists(fetchList: FetchStatusList) {
  const known = new LRUCache<string, List>({
    max: mostLists,
    maxSize: cacheBytes,
    sizeCalculation: ({ bytes }) => bytes.length + 1,
  });

  async function load(uri: string, trust: Trust): Promise<List> {
    const { type, body } = await fetchList(uri);
    const isCwt = type.split(';')[0]?.trim() === statusListTypes.cwt;
    const parsed = Claims.safeParse(isCwt ? claimsOfCwt(body, trust) : await claimsOfJwt(body, trust));
    demand(parsed.success, 'status unknown', 'malformed list');
    const { sub, exp, iat, ttl = defaultLifetimeSeconds, status_list: list } = parsed.data;
    const seconds = trust.now / 1000;
    demand(sub === uri, 'status unknown', 'list of another address');
    demand(exp === undefined || seconds < exp, 'status unknown', 'list expired');
    demand(iat === undefined || iat <= seconds + 60, 'status unknown', 'list from the future');
    const packed = typeof list.lst === 'string' ? Buffer.from(list.lst, 'base64url') : list.lst;
    const bytes = await promisify(inflate)(packed, { maxOutputLength: largestListBytes });
    const lifetime = Math.min(
      ttl,
      longestLifetimeSeconds,
      exp === undefined ? Number.POSITIVE_INFINITY : exp - seconds,
    );
    return { bits: list.bits, bytes, until: trust.now + lifetime * 1000 };
  }

  /** Cache key of a list: another source trusts other issuers. */
  const nameOf = (uri: string, { anchors }: Trust) =>
    [uri, ...anchors.map(({ x509 }) => x509.fingerprint256)].join(' ');

  async function find(uri: string, trust: Trust): Promise<List> {
    const name = nameOf(uri, trust);
    const found = known.get(name);
    if (found && trust.now < found.until) return found;
    try {
      const list = await load(uri, trust);
      known.set(name, list);
      return list;
    } catch (error) {
      const why = error instanceof PresentationRefused ? error.message : 'cannot be read';
      throw new PresentationRefused('status unknown', why);
    }
  }

  return {
    /** @throws PresentationRefused unless the list says that the attestation is valid; also where the list cannot be read */
    async check({ index, uri }: StatusReference, trust: Trust): Promise<void> {
      const { bits, bytes } = await find(uri, trust);
      const position = index * bits;
      const byte = bytes[Math.floor(position / 8)];
      demand(byte !== undefined, 'status unknown', 'the list is too short');
      const status = (byte >> (position % 8)) & (2 ** bits - 1);
      demand(status === 0, 'attestation revoked', status === 2 ? 'suspended' : undefined);
    },
  };
}
export type StatusLists = ReturnType<typeof createStatusLists>;
