import { promisify } from 'node:util';
import { inflate } from 'node:zlib';
import { z } from 'zod';
import { clockLeewayMs } from '../../platform/leeway.ts';
import {
  asBytes,
  asMap,
  type CborMap,
  certificatesOf,
  checkSign1,
  decodeCbor,
  parseSign1,
} from '../formats/cbor.ts';
import { certificatesOfJwt, readJwt } from '../formats/jwt.ts';
import { demand } from '../refused.ts';
import { type Certificate, validatePath } from './certificates.ts';
import { hasBegun, isOver } from './validity.ts';

/** Media types of the lists that issuers publish: status lists as JWT and as CWT, and identifier lists. */
export const statusListTypes = {
  jwt: 'application/statuslist+jwt',
  cwt: 'application/statuslist+cwt',
  identifiers: 'application/identifierlist+cwt',
};

/** The kind of a list: statuses by index (Token Status List, 4), or revoked identifiers (ISO/IEC 18013-5, 12.3.6.4). */
export type ListKind = 'index' | 'identifier';

export interface Trust {
  anchors: readonly Certificate[];
  now: number;
}

/** The most bytes of a list: enough for 64 million attestations. */
const largestListBytes = 8 * 1024 * 1024;
/** How long a list without a `ttl` is cached, in seconds. */
const defaultLifetimeSeconds = 300;
/** How long any list is cached at most, in milliseconds. */
const longestLifetimeMs = 86_400_000;
/** The expiry of a list that does not expire. */
const never = Number.POSITIVE_INFINITY;
/** A set of identifiers in hex takes about four times the memory of their bytes. */
const identifierMemoryFactor = 4;

const Claims = z.object({
  sub: z.string(),
  iat: z.number(),
  exp: z.number().optional(),
  nbf: z.number().optional(),
  ttl: z.number().positive().optional(),
});
const Statuses = z.object({
  bits: z.union([z.literal(1), z.literal(2), z.literal(4), z.literal(8)]),
  /** The compressed statuses: base64url in a JWT, bytes in a CWT. */
  lst: z.union([z.string(), z.instanceof(Uint8Array)]),
});

export interface PackedStatuses {
  bits: number;
  bytes: Buffer;
}

export type List = {
  /** Until when the list may be used, in milliseconds since the epoch. */
  until: number;
  /** The approximate size in bytes, for the cache of lists. */
  size: number;
} & (
  | ({ kind: 'index' } & PackedStatuses)
  /** The revoked identifiers in hex. */
  | { kind: 'identifier'; identifiers: ReadonlySet<string> }
);

export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

interface TokenContent {
  claims: unknown;
  list: unknown;
}

/** Verifies the signature of a list that is a JWT, and returns its content. */
async function readJwtList(body: Uint8Array, trust: Trust): Promise<TokenContent> {
  const jwt = Buffer.from(body).toString('latin1').trim();
  const { publicKey: key } = validatePath(certificatesOfJwt(jwt), trust).x509;
  const claims = await readJwt(jwt, { type: 'statuslist+jwt', key, refusal: 'status unknown' });
  return { claims, list: (claims as { status_list?: unknown }).status_list };
}

/** Labels of the claims of a CWT (RFC 8392 4; Token Status List 5.2; ISO/IEC 18013-5, 12.3.6.4). */
const labels = { sub: 2, exp: 4, nbf: 5, iat: 6, ttl: 65534 };
const listLabels = { index: 65533, identifier: 65530 } as const;
/** The header parameter with the media type of a COSE message (RFC 9596). */
const typeLabel = 16;

/** Verifies the signature of a list that is a CWT, which is a token in CBOR, and returns its content. */
function readCwtList(body: Uint8Array, kind: ListKind, trust: Trust): TokenContent {
  const sign1 = parseSign1(decodeCbor(body), 'status list');
  const type = kind === 'index' ? statusListTypes.cwt : statusListTypes.identifiers;
  demand(sign1.protectedHeaders.get(typeLabel) === type, 'status unknown', 'type');
  const { publicKey: key } = validatePath(certificatesOf(sign1), trust).x509;
  const payload = asBytes(sign1.payload, 'status list');
  checkSign1(sign1, { key, payload, refusal: 'status unknown' });
  const content = asMap(decodeCbor(payload), 'status list');
  const claims: Record<string, unknown> = {};
  for (const [name, label] of Object.entries(labels)) claims[name] = content.get(label);
  const otherList = kind === 'index' ? listLabels.identifier : listLabels.index;
  demand(!content.has(otherList), 'status unknown', 'two lists in one');
  return { claims, list: content.get(listLabels[kind]) };
}

/** Expands the statuses of a list, which is an object in a JWT and a map in a CWT. */
async function statusesOf(list: unknown): Promise<PackedStatuses> {
  const parsed = Statuses.safeParse(list instanceof Map ? Object.fromEntries(list) : list);
  demand(parsed.success, 'status unknown', 'malformed list');
  const { bits, lst } = parsed.data;
  const packed = typeof lst === 'string' ? Buffer.from(lst, 'base64url') : lst;
  return { bits, bytes: await promisify(inflate)(packed, { maxOutputLength: largestListBytes }) };
}

function identifiersOf(list: unknown): Set<string> {
  const named: CborMap = asMap(asMap(list, 'identifier list').get('identifiers'), 'identifiers');
  return new Set([...named.keys()].map((identifier) => hex(asBytes(identifier, 'identifier'))));
}

/** Checks the claims of a list. @returns until when the list may be used, in milliseconds since the epoch */
function checkClaims(claims: unknown, kind: ListKind, { uri, now }: { uri: string; now: number }): number {
  const parsed = Claims.safeParse(claims);
  demand(parsed.success, 'status unknown', 'malformed list');
  const { sub, iat, exp = never, nbf = 0, ttl = defaultLifetimeSeconds } = parsed.data;
  demand(sub === uri, 'status unknown', 'list of another address');
  demand(hasBegun(iat * 1000, now), 'status unknown', 'list from the future');
  demand(hasBegun(nbf * 1000, now), 'status unknown', 'list not yet valid');
  // A list of identifiers must have an expiry (ISO/IEC 18013-5, 12.3.6.3). For one of statuses by index, it is optional.
  demand(exp !== never || kind === 'index', 'status unknown', 'list without an end');
  demand(!isOver(exp * 1000, now), 'status unknown', 'list expired');
  return Math.min(now + ttl * 1000, now + longestLifetimeMs, exp * 1000 + clockLeewayMs);
}

/** Verifies and reads a list. @throws PresentationRefused; another error if a compressed list cannot be expanded */
export async function readStatusToken(
  { type, body }: { type: string; body: Uint8Array },
  { kind, uri }: { kind: ListKind; uri: string },
  trust: Trust,
): Promise<List> {
  // Identifier lists are always CWTs. A list of statuses is a JWT unless its media type, without parameters, says CWT.
  const mediaType = type.split(';', 1)[0]?.trim().toLowerCase();
  const isJwt = kind === 'index' && mediaType !== statusListTypes.cwt;
  const { claims, list } = isJwt ? await readJwtList(body, trust) : readCwtList(body, kind, trust);
  const until = checkClaims(claims, kind, { uri, now: trust.now });
  if (kind === 'identifier') {
    return { kind, until, size: body.length * identifierMemoryFactor, identifiers: identifiersOf(list) };
  }
  const statuses = await statusesOf(list);
  // The cache does not accept the size 0 of an empty list.
  return { kind, until, size: statuses.bytes.length + 1, ...statuses };
}
