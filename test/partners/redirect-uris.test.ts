import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redirectUriFault } from '../../server/partners/redirect-uris.ts';

describe('redirectUriFault', () => {
  it.each([
    ['https://shop.example/callback', 'live'],
    ['https://shop.example', 'live'],
    ['https://shop.example:8443/a?b=c@d', 'live'],
    ['https://127.0.0.1/callback', 'live'],
    ['http://localhost/callback', 'test'],
    ['http://localhost:3000/callback', 'test'],
    ['http://127.0.0.1:3000/', 'test'],
    ['https://shop.example/callback', 'test'],
  ] as const)('accepts %s in %s mode', (uri, mode) => {
    expect(redirectUriFault(uri, mode)).toBeUndefined();
  });

  it.each([
    ['http://localhost/callback', 'live'],
    ['http://shop.example/callback', 'test'],
    ['http://localhost.example/callback', 'test'],
    ['http://127.0.0.1.example/', 'test'],
    ['com.example.app:/callback', 'test'],
    ['javascript:alert(1)', 'test'],
    ['//shop.example/callback', 'test'],
    ['shop.example/callback', 'test'],
    ['https:shop.example', 'test'],
    ['https:///shop.example', 'test'],
    ['https://', 'test'],
    ['https://shop.example/#', 'test'],
    ['https://shop.example/#a', 'test'],
    ['https://user@shop.example/', 'test'],
    ['https://user:secret@shop.example/', 'test'],
    ['https://@shop.example/', 'test'],
    ['https://shop.example\\@evil.example/', 'test'],
    [' https://shop.example/', 'test'],
    ['https://shop.example/a b', 'test'],
    ['https://shop.example/\n', 'test'],
  ] as const)('returns a fault for %j in %s mode', (uri, mode) => {
    expect(redirectUriFault(uri, mode)).toBeTypeOf('string');
  });

  it('returns a fault in live mode for every URI for which it returns one in test mode', () => {
    fc.assert(
      fc.property(fc.oneof(fc.webUrl({ withFragments: true }), fc.string()), (uri) => {
        const live = redirectUriFault(uri, 'live');
        const test = redirectUriFault(uri, 'test');
        expect(live === undefined && test !== undefined).toBe(false);
        if (live === undefined) expect(new URL(uri).protocol).toBe('https:');
      }),
    );
  });
});
