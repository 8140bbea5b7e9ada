import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { absoluteUriFault } from '../../../contracts/absolute-uri.ts';
import type { Mode } from '../../../contracts/identifiers.ts';

/** A unicast address that is not on the Internet: on Azure, it serves credentials of the machine. */
const nonPublicUnicast = new Set(['168.63.129.16']);

/** The range of all global unicast addresses of IPv6. The rest is special or unassigned. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // A zone names an interface of this machine, so no Internet address has one.
  return address.includes('%') || !ipaddr.isValid(address) ? undefined : ipaddr.parse(address);
}

/**
 * Whether a literal address is on the public Internet, in none of the special-purpose ranges (RFC 6890 and its registries).
 * IPv6 addresses that contain an IPv4 address (mapped, compatible, 6to4, NAT64, Teredo) are not accepted.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parse(address);
  if (parsed?.range() !== 'unicast') return false;
  if (parsed instanceof ipaddr.IPv6) return parsed.match(globalUnicast);
  // Other notations, such as octal parts, mean different addresses to different programs.
  return ipaddr.IPv4.isValidFourPartDecimal(address) && !nonPublicUnicast.has(parsed.toString());
}

/** Whether a literal address is loopback: 127.0.0.0/8 or ::1, without mapped addresses. */
export function isLoopbackAddress(address: string): boolean {
  return parse(address)?.range() === 'loopback';
}

/** The rules for webhook URLs on this server. */
export interface UrlRules {
  /** Whether webhooks of test keys may be sent to `http://localhost` (SVC_LOCALHOST_WEBHOOKS). */
  localhostAllowed: boolean;
  /** The ports of our own listeners and of the database, which webhooks to localhost must not reach. */
  ownPorts: () => Iterable<number>;
}

const maxLength = 2048;
/** Ports up to this one belong to well-known services. Of them, only 443 is allowed. */
const highestPrivileged = 1023;

/** The "bad ports" of the Fetch standard above the privileged ports. */
const badPorts = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10080,
]);

/** The host of a URL without the brackets of an IPv6 literal. */
export const bareHost = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');

/** Whether the URL is exactly `http://localhost`, on any port: the only exception to https. */
export const isLocalhost = (url: URL): boolean => url.protocol === 'http:' && url.hostname === 'localhost';

function faultOfLocalhost(
  url: URL,
  mode: Mode,
  { localhostAllowed, ownPorts }: UrlRules,
): string | undefined {
  if (mode === 'live') return 'a live key needs an https:// URL';
  if (!localhostAllowed) return 'http://localhost is not allowed on this server (SVC_LOCALHOST_WEBHOOKS)';
  const port = Number(url.port || 80);
  return [...ownPorts()].includes(port) ? `port ${port} of localhost belongs to this server` : undefined;
}

function faultOfPort(port: string): string | undefined {
  const number = Number(port || 443);
  if (number === 443 || (number > highestPrivileged && !badPorts.has(number))) return undefined;
  return `port ${number} is not one for webhooks; use 443, or one above 1023`;
}

function faultOfHost(host: string): string | undefined {
  if (isIP(host)) return isPublicAddress(host) ? undefined : `${host} is not a public address`;
  if (host === 'localhost' || host.endsWith('.localhost'))
    return 'localhost is reached as http://localhost only';
  return host.includes('.') ? undefined : `${host} is not a full host name`;
}

/**
 * Checks a webhook URL without name resolution: when it is saved, and again at every attempt.
 * @returns the fault of the URL; undefined if it may be used
 */
export function checkWebhookUrl(text: string, mode: Mode, rules: UrlRules): string | undefined {
  if (text.length > maxLength) return `the URL is longer than ${maxLength} characters`;
  const fault = absoluteUriFault(text);
  if (fault !== undefined) return `the URL ${fault}`;
  const url = new URL(text);
  if (isLocalhost(url)) return faultOfLocalhost(url, mode, rules);
  if (url.protocol !== 'https:') {
    return mode === 'live'
      ? 'a live key needs an https:// URL'
      : 'a test key needs https://, or http://localhost';
  }
  return faultOfPort(url.port) ?? faultOfHost(bareHost(url));
}
