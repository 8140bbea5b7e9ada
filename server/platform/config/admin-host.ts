import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Ranges of addresses that are not on the Internet, by the names of ipaddr.js. */
const internalRanges: readonly string[] = ['loopback', 'private', 'linkLocal', 'uniqueLocal'];

/**
 * Why the admin listener may not listen on `host` without TLS; undefined if it may. The address of all interfaces counts
 * as public. So does a name, because its address may change.
 */
export function adminHostFault(host: string): string | undefined {
  if (host === 'localhost') return undefined;
  // `process` returns the IPv4 address of an IPv4-mapped IPv6 address.
  if (isIP(host) !== 0 && internalRanges.includes(ipaddr.process(host).range())) return undefined;
  return `the admin API has no TLS of its own and must not be public: ${host} is not a loopback or private address`;
}
