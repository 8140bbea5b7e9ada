import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { idOfBytes, sha256 } from '../../../server/platform/ids.ts';
import { linkOf, presentedLink } from '../../../server/sessions/hand-off/link.ts';

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const ids = bytes(16).map((id) => idOfBytes('session', Buffer.from(id)));

describe('the last part of a hand-off link', () => {
  it('identifies its session, and has no letters i, l, o or u, which look like other characters', () => {
    fc.assert(
      fc.property(ids, bytes(10), (id, secret) => {
        const link = linkOf(id, secret);
        expect(link).toMatch(/^[0-7][0-9a-hjkmnp-tv-z]{35}$/);
        expect(presentedLink(link)).toEqual({ hash: sha256(link), sessionId: id });
      }),
    );
  });

  it('identifies the same session if it is typed in capitals, with spaces or with dashes', () => {
    fc.assert(
      fc.property(ids, bytes(10), fc.nat(35), (id, secret, at) => {
        const link = linkOf(id, secret);
        const typed = `${link.slice(0, at)}- ${link.slice(at).toUpperCase()} `;
        expect(presentedLink(typed)).toEqual(presentedLink(link));
      }),
    );
  });

  it('identifies no session if it has other characters, another length or a first digit above 7', () => {
    fc.assert(fc.property(fc.string(), (text) => presentedLink(text).sessionId === undefined));
    expect(presentedLink('8'.repeat(36)).sessionId).toBeUndefined();
  });
});
