import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bytesOfSecret,
  idOfBytes,
  isWellFormedSecret,
  randomSecret,
  secretOfBytes,
  sha256,
} from '../../server/platform/ids.ts';
import { codeOf, presentedCode } from '../../server/sessions/code.ts';

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const ids = bytes(16).map((id) => idOfBytes('session', Buffer.from(id)));
const keys = bytes(32);

describe('an authorization code', () => {
  it('contains the id of its session, and has the format svc_code_ with 49 characters', () => {
    fc.assert(
      fc.property(keys, ids, (key, id) => {
        const code = codeOf(key, id);
        expect(id).toMatch(/^ses_[0-9A-Za-z]{22}$/);
        expect(code).toMatch(/^svc_code_[0-9A-Za-z]{49}$/);
        expect(isWellFormedSecret('code', code)).toBe(true);
        expect(presentedCode(code)).toEqual({ hash: sha256(code), sessionId: id });
      }),
    );
  });

  it('contains a secret of 128 bits; another server key or another session yields another secret', () => {
    const secretIn = (code: string) => bytesOfSecret('code', code)?.subarray(16).toString('hex') ?? '';
    fc.assert(
      fc.property(keys, keys, ids, ids, (key, otherKey, id, otherId) => {
        fc.pre(Buffer.compare(key, otherKey) !== 0 && id !== otherId);
        const secret = secretIn(codeOf(key, id));
        expect(secret).toMatch(/^[0-9a-f]{32}$/);
        expect(secretIn(codeOf(otherKey, id))).not.toBe(secret);
        expect(secretIn(codeOf(key, otherId))).not.toBe(secret);
        expect(secretIn(codeOf(key, id))).toBe(secret);
      }),
    );
  });
});

describe('a text that a client sends as a code', () => {
  it('identifies no session if it is not a well-formed code', () => {
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
    // 43 characters can encode slightly more than 32 bytes.
    expect(bytesOfSecret('code', `svc_code_${'z'.repeat(49)}`)).toBeUndefined();
  });

  it('decodes to the 32 bytes from which it was made', () => {
    fc.assert(
      fc.property(bytes(32), (wanted) => {
        const text = secretOfBytes('code', Buffer.from(wanted));
        expect(bytesOfSecret('code', text)).toEqual(Buffer.from(wanted));
      }),
    );
  });
});
