import { BlockList, isIP } from 'node:net';

/** Networks that are not the Internet: loopback, private and link-local ones. */
const internal = new BlockList();
for (const [network, prefix] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
] as const) {
  internal.addSubnet(network, prefix, 'ipv4');
}
internal.addAddress('::1', 'ipv6');
internal.addSubnet('fc00::', 7, 'ipv6');
internal.addSubnet('fe80::', 10, 'ipv6');

/**
 * Why the admin listener may not listen on `host` without TLS; undefined if it may. The address of all interfaces counts
 * as public. So does a name, because its address may change.
 */
export function adminHostFault(host: string): string | undefined {
  if (host === 'localhost') return undefined;
  const family = isIP(host);
  if (family !== 0 && internal.check(host, family === 6 ? 'ipv6' : 'ipv4')) return undefined;
  return `the admin API has no TLS of its own and must not be public: ${host} is not a loopback or private address`;
}
