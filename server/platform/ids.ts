import { createHmac, hash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import {
  type IdentifierKind,
  identifierPrefixes,
  type SecretKind,
  secretPrefixes,
} from '../../contracts/identifiers.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const checksumLength = 6;

/** Base62 of a number in hexadecimal, padded with zeros to `length` characters. */
function base62(hex: string, length: number): string {
  let digits = '';
  for (let rest = BigInt(`0x${hex}`); rest > 0n; rest /= 62n)
    digits = alphabet.charAt(Number(rest % 62n)) + digits;
  return digits.padStart(length, '0');
}

/** Decodes a text that `base62` has made; undefined for any other text. */
function fromBase62(text: string, { bytes, characters }: Shape): Buffer | undefined {
  if (text.length !== characters) return undefined;
  let value = 0n;
  for (const character of text) {
    const digit = alphabet.indexOf(character);
    if (digit === -1) return undefined;
    value = value * 62n + BigInt(digit);
  }
  const hex = value.toString(16).padStart(bytes * 2, '0');
  const isTooLarge = hex.length > bytes * 2; // The characters can express more numbers than the bytes.
  return isTooLarge ? undefined : Buffer.from(hex, 'hex');
}

/** How many characters encode how many bytes. */
interface Shape {
  bytes: number;
  characters: number;
}
const identifierShape: Shape = { bytes: 16, characters: 22 };
const secretShape: Shape = { bytes: 32, characters: 43 };
/** With the checksum, 52 characters: valid base64 without padding, as libraries for Standard Webhooks require. */
const webhookSecretShape: Shape = { bytes: 34, characters: 46 };

const shapeOf = (kind: SecretKind) => (kind === 'webhookSecret' ? webhookSecretShape : secretShape);

/** The identifier that these 16 bytes are encoded in. */
export function idOfBytes(kind: IdentifierKind, bytes: Buffer): string {
  return identifierPrefixes[kind] + base62(bytes.toString('hex'), identifierShape.characters);
}

/** A fresh identifier with 128 random bits, for instance `ptr_…`. */
export function randomId(kind: IdentifierKind): string {
  return idOfBytes(kind, randomBytes(identifierShape.bytes));
}

/** HMAC-SHA256 of `cause`, 32 bytes. It cannot be predicted without the key. */
export function keyed(key: Uint8Array, cause: readonly (string | number)[]): Buffer {
  return createHmac('sha256', key).update(JSON.stringify(cause)).digest();
}

/** Derives an identifier from `cause`. A repeated step gets the same `_id`, so it changes nothing. */
export function deriveId(key: Uint8Array, kind: IdentifierKind, cause: readonly (string | number)[]): string {
  return idOfBytes(kind, keyed(key, [kind, ...cause]).subarray(0, identifierShape.bytes));
}

/** CRC-32 as six base62 characters. It lets scanners find leaked secrets, and typos never reach the database. */
function checksum(text: string): string {
  return base62(crc32(text).toString(16), checksumLength);
}

/** Encodes bytes as a secret of this kind, with its checksum. A webhook secret has 34 bytes, any other has 32. */
export function secretOfBytes(kind: SecretKind, bytes: Buffer): string {
  const body = secretPrefixes[kind] + base62(bytes.toString('hex'), shapeOf(kind).characters);
  return body + checksum(body);
}

/** A fresh secret with at least 256 random bits and a checksum, for instance `svc_test_…`. */
export function randomSecret(kind: SecretKind): string {
  return secretOfBytes(kind, randomBytes(shapeOf(kind).bytes));
}

/** The 16 bytes of an identifier; undefined if the text is not an identifier of this kind. */
export function bytesOfId(kind: IdentifierKind, id: string): Buffer | undefined {
  const prefix = identifierPrefixes[kind];
  return id.startsWith(prefix) ? fromBase62(id.slice(prefix.length), identifierShape) : undefined;
}

/** The bytes of a secret; undefined for a text without the form and the checksum of this kind. */
export function bytesOfSecret(kind: SecretKind, text: string): Buffer | undefined {
  if (!isWellFormedSecret(kind, text)) return undefined;
  return fromBase62(text.slice(secretPrefixes[kind].length, -checksumLength), shapeOf(kind));
}

/** Whether `text` has the form and the checksum of a secret of this kind. Says nothing about who owns it. */
export function isWellFormedSecret(kind: SecretKind, text: string): boolean {
  const body = text.slice(0, -checksumLength);
  const expected = secretPrefixes[kind].length + shapeOf(kind).characters;
  return body.length === expected && body.startsWith(secretPrefixes[kind]) && text === body + checksum(body);
}

/** base64url SHA-256: how secrets with full entropy are stored and looked up. */
export function sha256(text: string): string {
  return hash('sha256', text, 'base64url');
}

/** Compares two strings in constant time. Only a difference of their lengths can be measured. */
export function sameText(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

/** base64url HMAC-SHA256 of `text`. */
export function hmac(key: Uint8Array, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}

/** A fresh request id, `req_…`, of 122 random bits: in `X-Request-Id`, in log lines, and in `svcadmin request`. */
export function randomRequestId(): string {
  return `req_${base62(randomUUID().replaceAll('-', ''), identifierShape.characters)}`;
}
