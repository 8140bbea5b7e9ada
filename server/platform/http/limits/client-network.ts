import ipaddr from 'ipaddr.js';

/** Lengths of network prefixes, in bits. */
export interface Prefixes {
  ipv4: number;
  ipv6: number;
}

/**
 * The network of an address, such as `192.0.2.0/24` or `2001:db8::/48`; `unknown` if the text is not an address.
 * An IPv4-mapped IPv6 address counts as IPv4.
 */
export function networkOf(address: string, { ipv4, ipv6 }: Prefixes): string {
  const [withoutZone = ''] = address.split('%', 1); // A link-local address has a zone, as in `fe80::1%eth0`.
  if (!ipaddr.isValid(withoutZone)) return 'unknown';
  const parsed = ipaddr.process(withoutZone);
  const [kind, prefix] = parsed instanceof ipaddr.IPv4 ? [ipaddr.IPv4, ipv4] : [ipaddr.IPv6, ipv6];
  return `${kind.networkAddressFromCIDR(`${parsed}/${prefix}`)}/${prefix}`;
}

/**
 * The network that counts as one caller in limits by address. One subscriber of an Internet provider has a whole /64 of
 * IPv6, and so any number of addresses.
 */
export const subscriberOf = (address: string): string => networkOf(address, { ipv4: 32, ipv6: 64 });
