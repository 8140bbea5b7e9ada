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
  it.each(forbiddenAddresses)('returns false for %s (%s)', (_shown, _kind, address) =>
    expect(isPublicAddress(address)).toBe(false),
  );
  it.each(publicAddresses)('returns true for the public address %s', (address) =>
    expect(isPublicAddress(address)).toBe(true),
  );

  it('returns false for every IPv6 address that contains an IPv4 address', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.constantFrom('::ffff:', '::', '64:ff9b::'), (inner, prefix) => {
        expect(isPublicAddress(prefix + inner)).toBe(false);
      }),
    );
  });
});

describe('isLoopbackAddress', () => {
  it.each(['127.0.0.1', '127.8.9.10', '::1'])('returns true for the loopback address %s', (address) =>
    expect(isLoopbackAddress(address)).toBe(true),
  );
  it.each([
    ['::ffff:127.0.0.1', 'IPv4 inside IPv6'],
    ['10.0.0.1', 'private'],
    ['::', 'unspecified'],
    ['0.0.0.0', 'unspecified'],
    ['1.1.1.1', 'public'],
    ['localhost', 'a name'],
    ['', 'empty'],
  ])('returns false for "%s" (%s)', (address) => expect(isLoopbackAddress(address)).toBe(false));
});

it('the tests of webhook URLs use at least 130 forbidden addresses and URLs', () => {
  const values = [...forbiddenAddresses, ...forbiddenUrls].map(([, , value]) => value);
  expect(new Set(values).size).toBeGreaterThanOrEqual(130);
});

describe('checkWebhookUrl', () => {
  it.each(forbiddenUrls)(
    'refuses the URL %s for test and live keys, because it has %s',
    (_shown, _kind, url) => {
      expect(checkWebhookUrl(url, 'live', rules)).toEqual(expect.any(String));
      expect(checkWebhookUrl(url, 'test', rules)).toEqual(expect.any(String));
    },
  );

  it.each(allowedUrls)('accepts the public URL %s for test and live keys', (url) => {
    expect(checkWebhookUrl(url, 'live', rules)).toBeUndefined();
    expect(checkWebhookUrl(url, 'test', rules)).toBeUndefined();
  });

  it.each(['http://localhost', 'http://localhost:3000/hooks', 'http://LOCALHOST:3000'])(
    'accepts %s in test mode if the server allows localhost, and refuses it in live mode',
    (url) => {
      expect(checkWebhookUrl(url, 'test', rules)).toBeUndefined();
      expect(checkWebhookUrl(url, 'live', rules)).toMatch('https');
      expect(checkWebhookUrl(url, 'test', { ...rules, localhostAllowed: false })).toMatch(
        'SVC_LOCALHOST_WEBHOOKS',
      );
    },
  );

  // The "bad ports" of the Fetch standard above the privileged ones: browsers and Node's `fetch` refuse them too.
  it.each([
    ...[1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669],
    ...[6679, 6697, 10080],
  ])('refuses the port %d, which no HTTP server has', async (port) => {
    expect(checkWebhookUrl(`https://shop.example:${port}/`, 'live', rules)).toMatch(`${port}`);
    await expect(fetch(`http://localhost:${port}/`)).rejects.toMatchObject({
      cause: { message: 'bad port' },
    });
  });

  it.each([8080, 27017])('refuses localhost with the port %d, which belongs to the server', (port) => {
    expect(checkWebhookUrl(`http://localhost:${port}/`, 'test', rules)).toMatch('belongs to this server');
  });
});
