import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkWebhookUrl,
  isLoopbackAddress,
  isPublicAddress,
} from '../../../server/webhooks/egress/destination.ts';
import { allowedUrls, forbiddenAddresses, forbiddenUrls, publicAddresses } from '../vectors.ts';

const rules = { localhostAllowed: true, ownPorts: () => [8080, 27017] };

describe('isPublicAddress', () => {
  it.each(forbiddenAddresses)('returns false for %s', (address) =>
    expect(isPublicAddress(address)).toBe(false),
  );
  it.each(publicAddresses)('returns true for %s', (address) => expect(isPublicAddress(address)).toBe(true));

  it('returns false for every IPv6 address that contains an IPv4 address', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.constantFrom('::ffff:', '::', '64:ff9b::'), (inner, prefix) => {
        expect(isPublicAddress(prefix + inner)).toBe(false);
      }),
    );
  });
});

describe('isLoopbackAddress', () => {
  it.each(['127.0.0.1', '127.8.9.10', '::1'])('returns true for %s', (address) =>
    expect(isLoopbackAddress(address)).toBe(true),
  );
  it.each(['::ffff:127.0.0.1', '10.0.0.1', '::', '0.0.0.0', '1.1.1.1', 'localhost', ''])(
    'returns false for %j',
    (address) => expect(isLoopbackAddress(address)).toBe(false),
  );
});

describe('checkWebhookUrl, with its test vectors', () => {
  it('has at least 130 test vectors of forbidden addresses and URLs', () => {
    expect(new Set([...forbiddenAddresses, ...forbiddenUrls]).size).toBeGreaterThanOrEqual(130);
  });

  it.each(forbiddenUrls)('returns an error text for %j in both modes', (url) => {
    expect(checkWebhookUrl(url, 'live', rules)).toEqual(expect.any(String));
    expect(checkWebhookUrl(url, 'test', rules)).toEqual(expect.any(String));
  });

  it.each(allowedUrls)('accepts %s in both modes', (url) => {
    expect(checkWebhookUrl(url, 'live', rules)).toBeUndefined();
    expect(checkWebhookUrl(url, 'test', rules)).toBeUndefined();
  });

  it.each(['http://localhost', 'http://localhost:3000/hooks', 'http://LOCALHOST:3000'])(
    'accepts %s in test mode only',
    (url) => {
      expect(checkWebhookUrl(url, 'test', rules)).toBeUndefined();
      expect(checkWebhookUrl(url, 'live', rules)).toMatch('https');
      expect(checkWebhookUrl(url, 'test', { ...rules, localhostAllowed: false })).toMatch(
        'SVC_LOCALHOST_WEBHOOKS',
      );
    },
  );

  it.each([8080, 27017])("returns an error text for the server's own port %d on localhost", (port) => {
    expect(checkWebhookUrl(`http://localhost:${port}/`, 'test', rules)).toMatch('belongs to this server');
  });
});
