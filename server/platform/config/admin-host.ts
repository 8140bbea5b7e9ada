import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Addresses that mean every interface of a machine. */
export const everyInterface = ['0.0.0.0', '::'];

/** Ranges of addresses that are not on the Internet, by the names of ipaddr.js. */
const internalRanges: readonly string[] = ['loopback', 'private', 'linkLocal', 'uniqueLocal'];

function isInternal(host: string): boolean {
  // ipaddr.js knows only zones of letters and digits, but interfaces have names such as `br-lan`.
  const [address = ''] = host.split('%', 1);
  // RFC 4291 §2.5.5.1 deprecates IPv4-compatible addresses, `::127.0.0.1`. ipaddr.js takes them for IPv4-mapped ones.
  if (isIP(host) === 0 || /^::\d+\./.test(address)) return false;
  // `process` returns the IPv4 address of an IPv4-mapped IPv6 address.
  return internalRanges.includes(ipaddr.process(address).range());
}

/**
 * Why the admin listener may not listen on `host` without TLS; undefined if it may. The address of all interfaces counts
 * as public. So does a name, because its address may change.
 */
export function adminHostFault(host: string): string | undefined {
  if (isPrivateHost(host)) return undefined;
  return `the admin API has no TLS of its own and must not be public: ${host} is not a loopback or private address`;
}

/** Whether a host is a loopback or private address. The address of all interfaces is not, and a name is not. */
export const isPrivateHost = (host: string): boolean => host === 'localhost' || isInternal(host);
