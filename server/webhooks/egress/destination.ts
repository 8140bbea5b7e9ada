import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Mode } from '../../../contracts/identifiers.ts';

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

/** What a webhook URL may be, here and now. */
export interface UrlRules {
  /** Whether test keys may use `http://localhost`: SVC_LOCALHOST_WEBHOOKS. */
  localhostAllowed: boolean;
  /** The ports of our own listeners and of the database, which no webhook reaches by way of localhost. */
  ownPorts: () => Iterable<number>;
}

const longest = 2048;
const highestPrivileged = 1023;

/** Ports that the Fetch standard never talks to ("bad port"), above the privileged ones. */
const badPorts = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10080,
]);

/** The host of a URL without the brackets of an IPv6 literal. */
export const bareHost = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');

/** Whether the URL is the one exception to https: exactly `http://localhost`, on any port. */
export const isLocalhost = (url: URL): boolean => url.protocol === 'http:' && url.hostname === 'localhost';

function checkLocalhost(url: URL, mode: Mode, { localhostAllowed, ownPorts }: UrlRules): string | undefined {
  if (mode === 'live') return 'a live key needs an https:// URL';
  if (!localhostAllowed) return 'http://localhost is not allowed on this server (SVC_LOCALHOST_WEBHOOKS)';
  const port = Number(url.port || 80);
  return [...ownPorts()].includes(port) ? `port ${port} of localhost belongs to this server` : undefined;
}

function checkPort(port: string): string | undefined {
  const number = Number(port || 443);
  if (number === 443 || (number > highestPrivileged && !badPorts.has(number))) return undefined;
  return `port ${number} is not one for webhooks; use 443, or one above 1023`;
}

function checkHost(host: string): string | undefined {
  if (isIP(host)) return isPublicAddress(host) ? undefined : `${host} is not a public address`;
  if (host === 'localhost' || host.endsWith('.localhost'))
    return 'localhost is reached as http://localhost only';
  return host.replace(/\.$/, '').includes('.') ? undefined : `${host} is not a full host name`;
}

/**
 * Checks a webhook URL without name resolution: when it is saved, and again at every attempt.
 * Hosts written in decimal, octal or hex count as the address that they mean (URL standard).
 * @returns the fault of the URL; undefined where it may be used
 */
export function checkWebhookUrl(text: string, mode: Mode, rules: UrlRules): string | undefined {
  // The parser drops or replaces these characters, so that a URL could look like another one.
  if (/[\s\\\p{Cc}]/u.test(text)) return 'the URL has a space, a control character or a backslash in it';
  if (text.length > longest) return `the URL is longer than ${longest} characters`;
  if (!URL.canParse(text)) return 'this is not a URL';
  const url = new URL(text);
  if (url.username || url.password || /^[a-z]+:\/*[^/?#]*@/i.test(text))
    return 'the URL must not hold a user or a password';
  if (url.hash || text.includes('#')) return 'the URL must not have a fragment';
  if (isLocalhost(url)) return checkLocalhost(url, mode, rules);
  if (url.protocol !== 'https:') {
    return mode === 'live'
      ? 'a live key needs an https:// URL'
      : 'a test key needs https://, or http://localhost';
  }
  return checkPort(url.port) ?? checkHost(bareHost(url));
}
