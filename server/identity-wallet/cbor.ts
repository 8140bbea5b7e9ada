import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { decode, encode, Tagged } from 'cborg';
import { demand, PresentationRefused, type RefusalReason } from './refused.ts';

export { encode };

export type CborMap = Map<unknown, unknown>;

/** The accepted tags: text dates, large numbers, COSE_Sign1, embedded CBOR, CWT, full dates. Other tags are refused. */
const tags = Tagged.preserve(0, 2, 18, 24, 61, 1004);

/** Decodes one item. Maps become `Map`. Indefinite lengths and repeated keys are refused. @throws PresentationRefused */
export function decodeCbor(bytes: Uint8Array): unknown {
  try {
    return decode(bytes, {
      tags,
      useMaps: true,
      rejectDuplicateMapKeys: true,
      allowIndefinite: false,
      allowUndefined: false,
      allowInfinity: false,
      allowNaN: false,
    });
  } catch {
    throw new PresentationRefused('malformed', 'CBOR');
  }
}

export function asMap(value: unknown, what: string): CborMap {
  demand(value instanceof Map, 'malformed', what);
  return value;
}
export function asArray(value: unknown, what: string): unknown[] {
  demand(Array.isArray(value), 'malformed', what);
  return value;
}
export function asText(value: unknown, what: string): string {
  demand(typeof value === 'string', 'malformed', what);
  return value;
}
export function asBytes(value: unknown, what: string): Uint8Array {
  demand(value instanceof Uint8Array, 'malformed', what);
  return value;
}

/** Returns the bytes inside embedded CBOR (RFC 8949 3.4.5.1). */
export function embedded(value: unknown, what: string): Uint8Array {
  demand(value instanceof Tagged && value.tag === 24, 'malformed', what);
  return asBytes(value.value, what);
}

/** Encodes bytes as embedded CBOR. Digests and signatures are made over the result. */
export const embed = (bytes: Uint8Array): Uint8Array => encode(new Tagged(24, bytes));

/** Returns a text date (tag 0) in milliseconds since the epoch. */
export function dateOf(value: unknown, what: string): number {
  demand(value instanceof Tagged && value.tag === 0, 'malformed', what);
  const text = asText(value.value, what);
  demand(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text), 'malformed', what);
  const time = Date.parse(text);
  demand(!Number.isNaN(time), 'malformed', what);
  return time;
}

/** Returns the public key of a COSE_Key on P-256 (RFC 9053 7.1). */
export function publicKeyOf(coseKey: CborMap): KeyObject {
  const [x, y] = [asBytes(coseKey.get(-2), 'device key'), asBytes(coseKey.get(-3), 'device key')];
  demand(coseKey.get(1) === 2 && coseKey.get(-1) === 1, 'malformed', 'device key: not on P-256');
  const coordinate = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
  try {
    return createPublicKey({
      key: { kty: 'EC', crv: 'P-256', x: coordinate(x), y: coordinate(y) },
      format: 'jwk',
    });
  } catch {
    throw new PresentationRefused('malformed', 'device key');
  }
}

/** Returns the COSE_Key of a key on P-256 (RFC 9053 7.1). */
export function coseKeyOf(key: KeyObject): Map<number, unknown> {
  const { x = '', y = '' } = createPublicKey(key).export({ format: 'jwk' });
  const coordinate = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));
  return new Map<number, unknown>([
    [1, 2],
    [-1, 1],
    [-2, coordinate(x)],
    [-3, coordinate(y)],
  ]);
}

/** A COSE_Sign1 as it was sent (RFC 9052 4.2). */
export interface Sign1 {
  protectedBytes: Uint8Array;
  protectedHeaders: CborMap;
  unprotectedHeaders: CborMap;
  /** Null if the payload is detached (RFC 9052 4.1). */
  payload: Uint8Array | null;
  signature: Uint8Array;
}

/** ECDSA algorithms (RFC 9053 2.1), also by their fully specified identifiers (RFC 9864). */
const curves = new Map([
  [-7, { curve: 'prime256v1', hash: 'sha256', length: 64 }],
  [-9, { curve: 'prime256v1', hash: 'sha256', length: 64 }],
  [-35, { curve: 'secp384r1', hash: 'sha384', length: 96 }],
  [-51, { curve: 'secp384r1', hash: 'sha384', length: 96 }],
  [-36, { curve: 'secp521r1', hash: 'sha512', length: 132 }],
  [-52, { curve: 'secp521r1', hash: 'sha512', length: 132 }],
]);
/** The algorithms that the EU's profiles allow. */
export const onP256: readonly number[] = [-7, -9];
/** The algorithms that ISO/IEC 18013-5 allows, without the Brainpool curves. */
export const onAnyCurve: readonly number[] = [...curves.keys()];

const headers = { algorithm: 1, critical: 2, certificates: 33 };

export function parseSign1(value: unknown, what: string): Sign1 {
  const [protectedBytes, unprotectedHeaders, payload, signature, ...more] = asArray(
    value instanceof Tagged && value.tag === 18 ? value.value : value,
    what,
  );
  demand(more.length === 0, 'malformed', what);
  const bytes = asBytes(protectedBytes, what);
  return {
    protectedBytes: bytes,
    protectedHeaders: asMap(decodeCbor(bytes), what),
    unprotectedHeaders: asMap(unprotectedHeaders, what),
    payload: payload === null ? null : asBytes(payload, what),
    signature: asBytes(signature, what),
  };
}

/** Returns the certificates of `x5chain` (RFC 9360 2). The first is the signer's. */
export function certificatesOf({ unprotectedHeaders, protectedHeaders }: Sign1): Uint8Array[] {
  const chain = unprotectedHeaders.get(headers.certificates) ?? protectedHeaders.get(headers.certificates);
  return (Array.isArray(chain) ? chain : [chain]).map((certificate) => asBytes(certificate, 'x5chain'));
}

interface Check {
  key: KeyObject;
  payload: Uint8Array;
  /** The accepted algorithms. The default is ES256. */
  algorithms?: readonly number[] | undefined;
  /** The refusal for a wrong signature. */
  refusal: RefusalReason;
}

/** Checks a signature. The algorithm in its protected header must match the key. @throws PresentationRefused */
export function checkSign1(sign1: Sign1, { key, payload, refusal, algorithms = onP256 }: Check): void {
  const { protectedBytes, protectedHeaders, signature } = sign1;
  const algorithm = Number(protectedHeaders.get(headers.algorithm));
  const scheme = algorithms.includes(algorithm) ? curves.get(algorithm) : undefined;
  demand(scheme, refusal, algorithms === onP256 ? 'the algorithm is not ES256' : 'unknown algorithm');
  demand(!protectedHeaders.has(headers.critical), refusal, 'unknown critical header');
  const { curve, hash, length } = scheme;
  demand(
    key.asymmetricKeyDetails?.namedCurve === curve,
    refusal,
    `the key is not on ${curve === 'prime256v1' ? 'P-256' : curve}`,
  );
  const signed = encode(['Signature1', protectedBytes, new Uint8Array(), payload]);
  const isValid =
    signature.length === length && verify(hash, signed, { key, dsaEncoding: 'ieee-p1363' }, signature);
  demand(isValid, refusal);
}
