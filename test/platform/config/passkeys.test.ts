import { expect, it } from 'vitest';
import { readPasskeys } from '../../../server/platform/config/passkeys.ts';

type Settings = Partial<Parameters<typeof readPasskeys>[0]>;

const read = (baseUrl: string, { portal, passkeys, rpId }: Settings = {}) =>
  readPasskeys({ portal, passkeys, rpId, baseUrl });

it('SVC_PORTAL=on is refused if the base URL has http and a public host, or an IP address', () => {
  const faultsOf = (baseUrl: string, portal = true) => read(baseUrl, { portal }).faults;
  expect(faultsOf('http://id.example')).toEqual(['SVC_PORTAL: passkeys need a base URL with https']);
  expect(faultsOf('https://192.0.2.1')).toEqual([
    'SVC_PORTAL: a base URL with an IP address can have no passkeys',
  ]);
  for (const sound of ['https://id.example', 'http://localhost:8080', 'not an address'])
    expect(faultsOf(sound)).toEqual([]);
  expect(faultsOf('http://id.example', false)).toEqual([]);
});

it('passkeys of users are on by default, and off if the host of the base URL is an IP address', () => {
  expect(read('https://id.example').rpId).toBe('id.example');
  expect(read('https://id.shop.example', { rpId: 'shop.example' }).rpId).toBe('shop.example');
  expect(read('https://192.0.2.1')).toEqual({ rpId: undefined, faults: [] });
});

it('SVC_PASSKEYS=off sets no relying party ID, and ignores a wrong SVC_PASSKEY_RP_ID', () => {
  expect(read('https://id.example', { passkeys: false })).toEqual({ rpId: undefined, faults: [] });
  expect(read('https://id.example', { passkeys: false, rpId: 'other.example' }).faults).toEqual([]);
});

it('SVC_PASSKEYS=on is refused if the host of the base URL is an IP address', () => {
  expect(read('https://192.0.2.1', { passkeys: true }).faults).toEqual([
    'SVC_PASSKEYS: a base URL with an IP address can have no passkeys',
  ]);
});

it('SVC_PASSKEY_RP_ID is refused if it is neither the host of the base URL nor a parent domain of it', () => {
  expect(read('https://id.example', { rpId: 'other.example' }).faults).toEqual([
    'SVC_PASSKEY_RP_ID: other.example is neither the host of the base URL nor a parent domain of it',
  ]);
});
