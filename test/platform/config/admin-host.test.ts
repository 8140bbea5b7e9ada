import { describe, expect, it } from 'vitest';
import { adminHostFault } from '../../../server/platform/config/admin-host.ts';

describe('the check of SVC_ADMIN_HOST, the address of the admin listener', () => {
  it.each([
    ...['127.0.0.1', '127.9.9.9', '::1', 'localhost', '10.1.2.3', '172.31.0.1', '192.168.1.1', 'fd00::1'],
    ...['fe80::1', 'fe80::1%eth0.100', 'fe80::1%br-lan'],
  ])('accepts the private address %s', (host) => {
    expect(adminHostFault(host)).toBeUndefined();
  });
  it.each([
    ...['0.0.0.0', '::', '8.8.8.8', '172.32.0.1', '2001:db8::1', '::ffff:8.8.8.8', '::127.0.0.1'],
    'admin.example',
  ])('refuses %s, which is not a private address, with a fault that names it', (host) => {
    expect(adminHostFault(host)).toContain(host);
  });
});
