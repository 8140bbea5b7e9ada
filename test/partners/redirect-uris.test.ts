import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redirectUriFault } from '../../server/partners/clients/redirect-uris.ts';
import { anyText } from '../harness/any-text.ts';

const accepted = [
  ['https://shop.example/callback', 'live'],
  ['https://shop.example', 'live'],
  ['https://shop.example:8443/a?b=c@d', 'live'],
  ['https://127.0.0.1/callback', 'live'],
  ['https://[2606:4700::1111]:8443/callback', 'live'],
  ['https://xn--r8jz45g.jp/callback', 'live'],
  ['https://SHOP.example/Callback?Code=1&promo_code=2', 'live'],
  ['https://1.shop.example/callback', 'live'],
  ['http://localhost/callback', 'test'],
  ['http://localhost:3000/callback', 'test'],
  ['http://127.0.0.1:3000/', 'test'],
  ['https://shop.example/callback', 'test'],
] as const;

/** An accepted URI with a part replaced by any text. */
const nearlyAccepted = fc
  .tuple(fc.constantFrom(...accepted), fc.nat(40), fc.nat(3), anyText({ maxLength: 3 }))
  .map(([[uri], at, removed, added]) => uri.slice(0, at) + added + uri.slice(at + removed));

describe('redirectUriFault', () => {
  it.each(accepted)('accepts %s in %s mode', (uri, mode) => {
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
    ['https://x.example;frame-ancestors/cb', 'test'],
    ['https://x.example,y.example/cb', 'test'],
    ["https://x.example'/cb", 'test'],
    ['https://H%4fSt.example/cb', 'test'],
    ['https://999999999/cb', 'test'],
    ['https://0x7f000001/cb', 'test'],
    ['https://shop.example:0/cb', 'test'],
    ['https://shop.example:0443/cb', 'test'],
    ['https://shop.example:/cb', 'test'],
    ['https://shop.example:99999/cb', 'test'],
    ['https://0x7f.1/cb', 'test'],
    ['https://127.1/cb', 'test'],
    ['https://127.0.0.01/cb', 'test'],
    ['https://shop\u00ADshop.example/cb', 'test'],
    ['https://ｓhop.example/cb', 'test'],
    ['https://shоp.example/cb', 'test'],
    ['https://*.example/cb', 'test'],
    ['https://shop_1.example/cb', 'test'],
    ['https://shop..example/cb', 'test'],
    ['https://.example/cb', 'test'],
    ['https://shop.example./cb', 'test'],
    ['https://-shop.example/cb', 'test'],
    ['https://shop.example:/cb', 'test'],
    ['https://shop.example:65536/cb', 'test'],
    ['https://shop.example:80a/cb', 'test'],
    ['https://[::ffff:1.1.1.1]/cb', 'test'],
    ['https://[2606:4700:0:0:0:0:0:1111]/cb', 'test'],
    ['https://[fe80::1%25eth0]/cb', 'test'],
    ['https:example.com/', 'test'],
    ['https:\\\\shop.example/', 'test'],
    ['https://shop.example/<a>', 'test'],
    ['https://shop.example/a"b', 'test'],
    ['https://xn--a/cb', 'test'],
    ['https://shop.example/cb?code=1', 'test'],
    ['https://shop.example/cb?a=b&state=', 'test'],
    ['https://shop.example/cb?%73tate=1', 'test'],
    ['https://shop.example/cb?iss', 'test'],
    ['https://shop.example/cb?error=1', 'test'],
    ['https://shop.example/cb?error_description=1', 'test'],
    ['https://shop.example/cb?session_id=1', 'test'],
    ['https://shop.example/cb?code[]=1', 'test'],
    ['https://shop.example/cb?state%5Bx%5D=1', 'test'],
    ['https://shop.example/cb?a=1;code=2', 'test'],
    ['https://shop.example/cb?+iss=1', 'test'],
    ['https://shop.example/%', 'test'],
    ['https://shop.example/cb?a=%zz', 'test'],
    ['https://shop.example/cb%2', 'test'],
  ] as const)('returns a fault for %j in %s mode', (uri, mode) => {
    expect(redirectUriFault(uri, mode)).toBeTypeOf('string');
  });

  it('returns a fault in live mode for every URI for which it returns one in test mode', () => {
    fc.assert(
      fc.property(fc.oneof(nearlyAccepted, fc.string()), (uri) => {
        const live = redirectUriFault(uri, 'live');
        const test = redirectUriFault(uri, 'test');
        expect(live === undefined && test !== undefined).toBe(false);
        if (live === undefined) expect(new URL(uri).protocol).toBe('https:');
      }),
    );
  });
});
