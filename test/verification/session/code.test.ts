import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bytesOfSecret,
  deriveSecret,
  idOfBytes,
  isWellFormedSecret,
  randomSecret,
  secretOfBytes,
  sha256,
} from '../../../server/platform/ids.ts';
import { codeAgain, codeOf, presentedCode } from '../../../server/verification/session/code.ts';

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const ids = bytes(16).map((id) => idOfBytes('session', Buffer.from(id)));
const keys = bytes(32);

describe('an authorization code', () => {
  it('names its session, and looks as codes always did', () => {
    fc.assert(
      fc.property(keys, ids, (key, id) => {
        const code = codeOf(key, id, 'new');
        expect(id).toMatch(/^ses_[0-9A-Za-z]{22}$/);
        expect(code).toMatch(/^svc_code_[0-9A-Za-z]{49}$/);
        expect(isWellFormedSecret('code', code)).toBe(true);
        expect(presentedCode(code)).toEqual({ hash: sha256(code), sessionId: id });
        expect(codeOf(key, id, 'both')).toBe(code);
      }),
    );
  });

  it('holds a secret of 128 bits, which follows from key and session, and from no code of the form before', () => {
    const secretIn = (code: string) => bytesOfSecret('code', code)?.subarray(16).toString('hex') ?? '';
    fc.assert(
      fc.property(keys, keys, ids, ids, (key, otherKey, id, otherId) => {
        fc.pre(Buffer.compare(key, otherKey) !== 0 && id !== otherId);
        const secret = secretIn(codeOf(key, id, 'new'));
        expect(secret).toMatch(/^[0-9a-f]{32}$/);
        expect(secretIn(codeOf(otherKey, id, 'new'))).not.toBe(secret);
        expect(secretIn(codeOf(key, otherId, 'new'))).not.toBe(secret);
        expect(bytesOfSecret('code', codeOf(key, id, 'old'))?.toString('hex')).not.toContain(secret);
      }),
    );
  });

  it('is derived again in the form that the session was completed with', () => {
    fc.assert(
      fc.property(keys, ids, fc.constantFrom('old', 'both', 'new'), (key, id, forms) => {
        const code = codeOf(key, id, forms);
        const issued = { hash: sha256(code), keyId: 'code-1', wrongVerifiers: 0 };
        const session = { _id: id, code: { ...issued, issuedAt: new Date(), expiresAt: new Date() } };
        expect(codeAgain(key, session)).toBe(code);
        expect(codeAgain(randomBytes(32), session)).toBeUndefined();
      }),
    );
  });

  it('was the same for builds of schema version 2', () => {
    const key = new Uint8Array(32).fill(1);
    const id = 'ses_0000000000000000000001';
    expect(codeOf(key, id, 'old')).toBe(deriveSecret(key, 'code', [id]));
  });
});

describe('what is presented as a code', () => {
  it('names no session where it is anything else', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'grapheme' })), (text) => {
        expect(presentedCode(text)).toEqual({ hash: sha256(text), sessionId: undefined });
      }),
    );
    const code = randomSecret('code');
    for (const text of [
      code.slice(1),
      `${code}0`,
      code.toLowerCase(),
      code.replace('svc_code_', 'svc_test_'),
    ])
      expect(presentedCode(text).sessionId).toBeUndefined();
    // 43 characters hold a little more than 32 bytes.
    expect(bytesOfSecret('code', `svc_code_${'z'.repeat(49)}`)).toBeUndefined();
  });

  it('gives the bytes that it was made of', () => {
    fc.assert(
      fc.property(bytes(32), (wanted) => {
        const text = secretOfBytes('code', Buffer.from(wanted));
        expect(bytesOfSecret('code', text)).toEqual(Buffer.from(wanted));
      }),
    );
  });
});
