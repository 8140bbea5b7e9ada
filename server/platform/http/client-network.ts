import ipaddr from 'ipaddr.js';

/** Bits of an address that name a network. */
export interface Prefixes {
  ipv4: number;
  ipv6: number;
}

/**
 * The network of an address, such as `192.0.2.0/24` or `2001:db8::/48`; `unknown` for another text.
 * An IPv4 address that is mapped into IPv6 is an IPv4 address.
 */
export function networkOf(address: string, { ipv4, ipv6 }: Prefixes): string {
  const [bare = ''] = address.split('%', 1);
  if (!ipaddr.isValid(bare)) return 'unknown';
  const parsed = ipaddr.process(bare);
  const [kind, prefix] = parsed instanceof ipaddr.IPv4 ? [ipaddr.IPv4, ipv4] : [ipaddr.IPv6, ipv6];
  return `${kind.networkAddressFromCIDR(`${parsed}/${prefix}`)}/${prefix}`;
}

/**
 * Whom a limit of each address counts. One subscriber of an Internet provider has a whole /64 of IPv6, and so any number
 * of addresses.
 */
export const subscriberOf = (address: string): string => networkOf(address, { ipv4: 32, ipv6: 64 });
