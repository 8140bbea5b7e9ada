import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { secretPrefixes } from '../../../contracts/identifiers.ts';
import { nearestOf, showSent } from '../../../server/platform/keys/sent-text.ts';
import { anyText } from '../../harness/any-text.ts';

describe('showSent, which quotes the text of a caller in an error,', () => {
  it('returns only printable ASCII (RFC 6749 5.2), and a short part of a long text', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 3000 }), (text) => {
        expect(showSent(text)).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]{0,123}$/);
      }),
    );
  });

  it('returns a redirect URI without secrets unchanged', () => {
    expect(showSent('http://localhost:3000/Callback/?a=1&b=%20')).toBe(
      'http://localhost:3000/Callback/?a=1&b=%20',
    );
  });

  it.each([...Object.values(secretPrefixes), 'eyJ'])('hides a secret that begins with %s', (prefix) => {
    const shown = showSent(`https://a.example/?token=${prefix}AAAA.BBBB-CC&x=${prefix}DDDD`);
    expect(shown).toBe(`https://a.example/?token=${prefix}...&x=${prefix}...`);
  });
});

describe('nearestOf, which suggests a registered redirect URI,', () => {
  it('returns the known text with the longest common prefix, in any letter case', () => {
    const known = ['https://a.example/cb', 'http://localhost:3000/callback', 'http://localhost:3000/other'];
    expect(nearestOf('http://LOCALHOST:3000/callback/', known)).toBe(known[1]);
    expect(nearestOf('', known)).toBe(known[0]);
    expect(nearestOf('x', [])).toBeUndefined();
  });
});
