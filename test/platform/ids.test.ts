import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type IdentifierKind,
  identifier,
  identifierKind,
  identifierPrefixes,
  type SecretKind,
  secretPrefixes,
} from '../../contracts/identifiers.ts';
import {
  deriveId,
  isWellFormedSecret,
  randomId,
  randomSecret,
  sameText,
  secretOfBytes,
  sha256,
} from '../../server/platform/ids.ts';

const identifiers = Object.keys(identifierPrefixes) as IdentifierKind[];
const secrets = Object.keys(secretPrefixes) as SecretKind[];
const key = new Uint8Array(32).fill(1);
const otherKey = new Uint8Array(32).fill(2);

describe.each(identifiers)('an identifier of the kind %s', (kind) => {
  it(`has the prefix ${identifierPrefixes[kind]} and 128 bits in base62`, () => {
    for (const id of [randomId(kind), deriveId(key, kind, ['cause'])]) {
      expect(id).toMatch(new RegExp(`^${identifierPrefixes[kind]}[0-9A-Za-z]{22}$`));
      expect(identifier(kind).safeParse(id).success).toBe(true);
      expect(identifierKind(id)).toBe(kind);
    }
  });
});

describe('identifiers', () => {
  it('are all different if 5,000 random ones are made', () => {
    expect(new Set(Array.from({ length: 5_000 }, () => randomId('entry'))).size).toBe(5_000);
  });

  it('are refused by the schema of another kind', () => {
    for (const kind of identifiers) {
      const other = identifiers.find((each) => each !== kind) as IdentifierKind;
      expect(identifier(other).safeParse(randomId(kind)).success).toBe(false);
    }
    expect(identifierKind('xyz_0000000000000000000000')).toBeUndefined();
  });

  it('derived from a cause are equal only if key, kind and every part of the cause are equal', () => {
    const cause = ['charge', 'hash', 0];
    const id = deriveId(key, 'entry', cause);
    expect(deriveId(key, 'entry', [...cause])).toBe(id);
    const others = [
      deriveId(otherKey, 'entry', cause),
      deriveId(key, 'event', cause),
      deriveId(key, 'entry', ['charge', 'hash', 1]),
      deriveId(key, 'entry', ['charge', 'hash', '0']),
      deriveId(key, 'entry', ['charge', 'hash0']),
      deriveId(key, 'entry', ['chargehash', 0]),
    ];
    expect(new Set([id, ...others].map((each) => each.slice(4))).size).toBe(1 + others.length);
  });
});

describe.each(secrets)('a secret of the kind %s', (kind) => {
  const characters = kind === 'webhookSecret' ? 52 : 49;

  it(`has the prefix ${secretPrefixes[kind]}, then 256 bits and a checksum in base62`, () => {
    for (const secret of [randomSecret(kind), secretOfBytes(kind, Buffer.from(key))]) {
      expect(secret).toMatch(new RegExp(`^${secretPrefixes[kind]}[0-9A-Za-z]{${characters}}$`));
      expect(isWellFormedSecret(kind, secret)).toBe(true);
    }
  });

  it('fails the check of its checksum if any one character after the prefix is changed', () => {
    const secret = randomSecret(kind);
    const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    const position = fc.integer({ min: secretPrefixes[kind].length, max: secret.length - 1 });
    fc.assert(
      fc.property(position, fc.constantFrom(...alphabet), (at, character) => {
        fc.pre(secret[at] !== character);
        expect(isWellFormedSecret(kind, secret.slice(0, at) + character + secret.slice(at + 1))).toBe(false);
      }),
    );
  });
});

describe('a secret', () => {
  it('is malformed as a secret of another kind, and with a character more or less', () => {
    const secret = randomSecret('testKey');
    expect(isWellFormedSecret('liveKey', secret)).toBe(false);
    for (const text of ['', 'svc_test_', secret.slice(0, -1), `${secret}0`, ` ${secret}`, `${secret}\n`]) {
      expect(isWellFormedSecret('testKey', text)).toBe(false);
    }
  });

  it('has at least 256 bits of valid base64 after whsec_ if it signs webhooks', () => {
    const body = randomSecret('webhookSecret').slice('whsec_'.length);
    expect(body.length % 4).toBe(0);
    const bytes = Buffer.from(body, 'base64');
    expect(bytes.toString('base64')).toBe(body);
    expect(bytes.length).toBeGreaterThanOrEqual(32);
  });

  it('has only characters that form encoding leaves unchanged (RFC 6749 2.3.1) if it is a client secret', () => {
    const secret = randomSecret('clientSecret');
    expect(encodeURIComponent(secret)).toBe(secret);
  });
});

describe('the helpers for secrets', () => {
  it('include sameText, which is true for equal texts only', () => {
    expect(sameText('abc', 'abc')).toBe(true);
    for (const other of ['abd', 'ab', 'abcd', '', 'ABC']) expect(sameText('abc', other)).toBe(false);
    expect(sameText('é', 'é')).toBe(true);
    expect(sameText('é', 'e')).toBe(false);
  });

  it('include sha256, which returns the digest of a text in base64url', () => {
    expect(sha256('abc')).toBe('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0');
  });
});
