import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { decode, encode, Tagged } from 'cborg';
import { demand, PresentationRefused, type RefusalReason } from '../refused.ts';

export { encode };

export type CborMap = Map<unknown, unknown>;

/** The accepted tags. Other tags are refused. */
export const cborTag = { textDate: 0, largeNumber: 2, coseSign1: 18, embedded: 24, cwt: 61, fullDate: 1004 };
const tags = Tagged.preserve(...Object.values(cborTag));

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

/** The functions below refuse a value of another type. `what` names the value in the refusal. */
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
  demand(value instanceof Tagged && value.tag === cborTag.embedded, 'malformed', what);
  return asBytes(value.value, what);
}

/** Encodes bytes as embedded CBOR. Digests and signatures are made over the result. */
export const embed = (bytes: Uint8Array): Uint8Array => encode(new Tagged(cborTag.embedded, bytes));

/** Encodes an array of at most 23 parts that are encoded already. Its first byte has the type and the number of parts. */
export const joinAsArray = (...parts: Uint8Array[]): Uint8Array =>
  Buffer.concat([Uint8Array.of(0x80 + parts.length), ...parts]);

/** Returns a text date in milliseconds since the epoch. */
export function dateOf(value: unknown, what: string): number {
  demand(value instanceof Tagged && value.tag === cborTag.textDate, 'malformed', what);
  const text = asText(value.value, what);
  demand(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text), 'malformed', what);
  const time = Date.parse(text);
  demand(!Number.isNaN(time), 'malformed', what);
  return time;
}

/** Labels of a COSE_Key, and their values for a key on P-256 (RFC 9052 7, RFC 9053 7.1). */
const keyLabel = { type: 1, algorithm: 3, operations: 4, curve: -1, x: -2, y: -3 };
const ellipticCurve = 2;
const p256 = 1;
/** The operation `verify`, as a number or as text (RFC 9052 7.1). */
const verifying: readonly unknown[] = [2, 'verify'];

/** Returns the public key of a COSE_Key on P-256. @throws PresentationRefused */
export function publicKeyOf(coseKey: CborMap): KeyObject {
  const x = asBytes(coseKey.get(keyLabel.x), 'device key');
  const y = asBytes(coseKey.get(keyLabel.y), 'device key');
  const isP256 = coseKey.get(keyLabel.type) === ellipticCurve && coseKey.get(keyLabel.curve) === p256;
  demand(isP256, 'malformed', 'device key: not on P-256');
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

/** Returns the public key that verifies ES256. Refuses one that is for another algorithm or operation (RFC 9052 7.1). */
export function verifyingKeyOf(coseKey: CborMap): KeyObject {
  const algorithm = coseKey.get(keyLabel.algorithm) ?? es256;
  demand(onP256.includes(Number(algorithm)), 'malformed', 'device key: not for ES256');
  const operations = asArray(coseKey.get(keyLabel.operations) ?? verifying, 'device key');
  const isForSignatures = operations.some((operation) => verifying.includes(operation));
  demand(isForSignatures, 'malformed', 'device key: not for signatures');
  return publicKeyOf(coseKey);
}

export function coseKeyOf(key: KeyObject): Map<number, unknown> {
  const { x = '', y = '' } = createPublicKey(key).export({ format: 'jwk' });
  const coordinate = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));
  return new Map<number, unknown>([
    [keyLabel.type, ellipticCurve],
    [keyLabel.curve, p256],
    [keyLabel.x, coordinate(x)],
    [keyLabel.y, coordinate(y)],
  ]);
}

/** A COSE_Sign1, which is a signed message in CBOR, as it was sent (RFC 9052 4.2). */
export interface Sign1 {
  protectedBytes: Uint8Array;
  protectedHeaders: CborMap;
  unprotectedHeaders: CborMap;
  /** Null if the payload is detached (RFC 9052 4.1). */
  payload: Uint8Array | null;
  signature: Uint8Array;
}

/** The identifier of ES256 (RFC 9053 2.1). */
export const es256 = -7;
const p256Scheme = { curve: 'prime256v1', curveName: 'P-256', hash: 'sha256', signatureBytes: 64 };
const p384Scheme = { curve: 'secp384r1', curveName: 'P-384', hash: 'sha384', signatureBytes: 96 };
const p521Scheme = { curve: 'secp521r1', curveName: 'P-521', hash: 'sha512', signatureBytes: 132 };
/** ECDSA by algorithm identifier: each has the one of RFC 9053 2.1, and the fully specified one of RFC 9864. */
const schemes = new Map([
  [es256, p256Scheme],
  [-9, p256Scheme],
  [-35, p384Scheme],
  [-51, p384Scheme],
  [-36, p521Scheme],
  [-52, p521Scheme],
]);
/** The identifiers of ES256, the only algorithm that the EU's profiles allow. */
export const onP256: readonly number[] = [es256, -9];
/** The algorithms that ISO/IEC 18013-5 allows, without the Brainpool curves. */
export const onAnyCurve: readonly number[] = [...schemes.keys()];

/** Labels of header parameters (RFC 9052 3.1, RFC 9360 2). */
export const headerLabels = { algorithm: 1, critical: 2, certificates: 33 };

/** Parses a COSE_Sign1, with or without its tag. @throws PresentationRefused */
export function parseSign1(value: unknown, what: string): Sign1 {
  const isTagged = value instanceof Tagged && value.tag === cborTag.coseSign1;
  const parts = asArray(isTagged ? value.value : value, what);
  const [protectedBytes, unprotectedHeaders, payload, signature, ...more] = parts;
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

/**
 * Returns the certificates of `x5chain`, the signer's first (RFC 9360 2). The header may be protected or not, because the
 * certificates are verified by their own signatures. A single certificate is not in a list.
 */
export function certificatesOf({ unprotectedHeaders, protectedHeaders }: Sign1): Uint8Array[] {
  const chain =
    unprotectedHeaders.get(headerLabels.certificates) ?? protectedHeaders.get(headerLabels.certificates);
  return (Array.isArray(chain) ? chain : [chain]).map((certificate) => asBytes(certificate, 'x5chain'));
}

/** The bytes that a COSE_Sign1 signs, without external data (`Sig_structure`, RFC 9052 4.4). */
const signedBytes = (protectedBytes: Uint8Array, payload: Uint8Array): Uint8Array =>
  encode(['Signature1', protectedBytes, new Uint8Array(), payload]);

/** A private key on P-256 with its certificates in DER: the signer's first, then the intermediate ones. */
export interface Signer {
  key: KeyObject;
  certificates: readonly Uint8Array[];
}

export const signEs256 = (key: KeyObject, data: Uint8Array): Buffer =>
  sign('sha256', data, { key, dsaEncoding: 'ieee-p1363' });

/** Signs a payload, and returns the parts of a COSE_Sign1. The payload of a detached one is null (RFC 9052 4.1). */
export function signSign1({ key, certificates }: Signer, payload: Uint8Array, isDetached: boolean) {
  const protectedBytes = encode(new Map([[headerLabels.algorithm, es256]]));
  // A single certificate is not in a list (RFC 9360 2).
  const chain = certificates.length === 1 ? certificates[0] : certificates;
  const unprotectedHeaders = certificates.length > 0 ? [[headerLabels.certificates, chain] as const] : [];
  const signature = new Uint8Array(signEs256(key, signedBytes(protectedBytes, payload)));
  return [protectedBytes, new Map(unprotectedHeaders), isDetached ? null : payload, signature];
}

interface Check {
  key: KeyObject;
  payload: Uint8Array;
  /** The accepted algorithms, by identifier. The default is ES256. */
  algorithms?: readonly number[] | undefined;
  refusal: RefusalReason;
}

/** Checks a signature. The algorithm in its protected header must match the key. @throws PresentationRefused */
export function checkSign1(sign1: Sign1, { key, payload, refusal, algorithms = onP256 }: Check): void {
  const { protectedBytes, protectedHeaders, signature } = sign1;
  const algorithm = Number(protectedHeaders.get(headerLabels.algorithm));
  const scheme = algorithms.includes(algorithm) ? schemes.get(algorithm) : undefined;
  const isOnlyEs256 = algorithms === onP256;
  demand(scheme, refusal, isOnlyEs256 ? 'the algorithm is not ES256' : 'unknown algorithm');
  demand(!protectedHeaders.has(headerLabels.critical), refusal, 'unknown critical header');
  const { curve, curveName, hash, signatureBytes } = scheme;
  demand(key.asymmetricKeyDetails?.namedCurve === curve, refusal, `the key is not on ${curveName}`);
  const signed = signedBytes(protectedBytes, payload);
  demand(signature.length === signatureBytes, refusal);
  demand(verify(hash, signed, { key, dsaEncoding: 'ieee-p1363' }, signature), refusal);
}
