import { describe, expect, it } from 'vitest';
import { boundHeaders } from '../../server/platform/http/request-headers.ts';

function bounded(headers: Record<string, string | string[]>) {
  boundHeaders(headers);
  return headers;
}

describe('a header that is too long', () => {
  it('is shortened to 512 characters, and credentials to 4,096', () => {
    const headers = bounded({ 'user-agent': 'u'.repeat(513), authorization: 'a'.repeat(4097), accept: 'a' });
    expect(headers).toEqual({ 'user-agent': 'u'.repeat(512), authorization: 'a'.repeat(4096), accept: 'a' });
  });

  it('keeps its last addresses if it is X-Forwarded-For, because trusted proxies append them', () => {
    const invented = Array.from({ length: 100 }, (_, n) => `10.0.0.${n}`).join(', ');
    const { 'x-forwarded-for': kept } = bounded({ 'x-forwarded-for': `${invented}, 192.0.2.1, 192.0.2.2` });
    const addresses = String(kept).split(', ');
    expect(addresses.slice(-2)).toEqual(['192.0.2.1', '192.0.2.2']);
    expect(addresses[0]?.trim()).toMatch(/^10\.0\.0\.\d+$/);
    expect(String(kept).length).toBeLessThanOrEqual(512);
  });

  it.each([
    ['198.51.100.7:40001', '198.51.100.7'],
    ['198.51.100.7', '198.51.100.7'],
    ['[2001:db8::7]:40001', '2001:db8::7'],
    ['[2001:db8::7]', '2001:db8::7'],
    ['2001:db8::7', '2001:db8::7'],
    ['"[2001:db8::7]:40001"', '2001:db8::7'],
    ['"198.51.100.7"', '198.51.100.7'],
    ['"198.51.100.7:40001"', '198.51.100.7'],
    ['[::ffff:198.51.100.7]:1', '::ffff:198.51.100.7'],
    ['198.51.100.7:', '198.51.100.7'],
    ['unknown', 'unknown'],
    ['_hidden:80', '_hidden:80'],
    ['198.51.100.7:1,[2001:db8::7]:2 , 10.0.0.1', '198.51.100.7, 2001:db8::7, 10.0.0.1'],
    ['198.51.100.7:80:81', '198.51.100.7:80:81'],
    ['', ''],
  ])('loses the ports, brackets and quotes of its addresses if it is X-Forwarded-For: %s', (sent, read) => {
    expect(bounded({ 'x-forwarded-for': sent })).toEqual({ 'x-forwarded-for': read });
  });

  it('keeps only the cookies of this service if it is a Cookie header', () => {
    const others = Array.from({ length: 200 }, (_, n) => `other${n}=${'x'.repeat(50)}`).join('; ');
    const { cookie } = bounded({ cookie: `${others}; svc_ses_1=secret; more=1; svc_language=de` });
    expect(cookie).toBe(' svc_ses_1=secret; svc_language=de');
  });
});
