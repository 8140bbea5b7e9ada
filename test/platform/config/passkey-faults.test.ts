import { expect, it } from 'vitest';
import { passkeyFaults, readPasskeyRpId } from '../../../server/platform/config/passkey-faults.ts';

it('the portal is refused if browsers support no passkeys for the base URL', () => {
  const faultOf = (SVC_BASE_URL: string, SVC_PORTAL = 'on') => passkeyFaults({ SVC_PORTAL, SVC_BASE_URL });
  expect(faultOf('http://id.example')).toEqual(['SVC_PORTAL: passkeys need a base URL with https']);
  expect(faultOf('https://192.0.2.1')).toEqual([
    'SVC_PORTAL: a base URL with an IP address can have no passkeys',
  ]);
  for (const sound of ['https://id.example', 'http://localhost:8080', 'not an address'])
    expect(faultOf(sound)).toEqual([]);
  expect(faultOf('http://id.example', 'off')).toEqual([]);
  expect(passkeyFaults({ SVC_PORTAL: 'on' })).toEqual([]);
});

it('passkeys of users are on by default, unless the base URL can have none', () => {
  expect(readPasskeyRpId({}, 'https://id.example')).toBe('id.example');
  expect(readPasskeyRpId({ SVC_PASSKEY_RP_ID: 'shop.example' }, 'https://id.shop.example')).toBe(
    'shop.example',
  );
  expect(readPasskeyRpId({ SVC_PASSKEYS: false }, 'https://id.example')).toBeUndefined();
  expect(readPasskeyRpId({}, 'https://192.0.2.1')).toBeUndefined();
  expect(passkeyFaults({ SVC_BASE_URL: 'https://192.0.2.1' })).toEqual([]);
  expect(passkeyFaults({ SVC_BASE_URL: 'https://192.0.2.1', SVC_PASSKEYS: 'on' })).toHaveLength(1);
  expect(
    passkeyFaults({ SVC_BASE_URL: 'https://id.example', SVC_PASSKEY_RP_ID: 'other.example' }),
  ).toHaveLength(1);
});
