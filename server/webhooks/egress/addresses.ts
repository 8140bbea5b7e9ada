import ipaddr from 'ipaddr.js';

/** Unicast by its range, and yet not the Internet: Azure answers with machine credentials there. */
const exceptions = new Set(['168.63.129.16']);

/** All that IANA has given out as global unicast lies in here; the rest of IPv6 is special or unassigned. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // A zone names an interface of this machine: no address of the Internet has one.
  return address.includes('%') || !ipaddr.isValid(address) ? undefined : ipaddr.parse(address);
}

/**
 * Whether a literal address is one of the public Internet: in none of the special-purpose ranges of IPv4 and IPv6
 * (RFC 6890 and its registries). Addresses that carry an IPv4 one inside (mapped, compatible, 6to4, NAT64, Teredo) are not.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parse(address);
  if (parsed?.range() !== 'unicast') return false;
  if (parsed instanceof ipaddr.IPv6) return parsed.match(globalUnicast);
  return ipaddr.IPv4.isValidFourPartDecimal(address) && !exceptions.has(parsed.toString());
}

/** Whether a literal address is this machine's loopback, 127.0.0.0/8 or ::1, and nothing mapped to it. */
export function isLoopbackAddress(address: string): boolean {
  return parse(address)?.range() === 'loopback';
}
