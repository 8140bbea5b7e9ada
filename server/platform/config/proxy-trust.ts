import ipaddr from 'ipaddr.js';
import { z } from 'zod';

/** Names of ranges that the HTTP server knows. */
const ranges: readonly string[] = ['loopback', 'linklocal', 'uniquelocal'];

/** Whether a text is the name of a range, a single address, or a range as in `10.0.0.0/8`. */
function isRange(text: string): boolean {
  const [address = ''] = text.split('/');
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address);
  return ranges.includes(text) || (isAddress && (address === text || ipaddr.isValidCIDR(text)));
}

/** The proxies whose `X-Forwarded-For` is trusted: all, a number of them, or ranges; see docs/configuration.md. */
export const ProxyTrust = z.string().transform((text, context): boolean | number | string => {
  if (text === 'off' || text === 'false') return false;
  if (text === 'on' || text === 'true') return true;
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  const parts = text.split(',').map((part) => part.trim());
  if (parts.every(isRange)) return parts.join(',');
  context.addIssue({
    code: 'custom',
    message: 'expected on, off, a number of proxies, or addresses and CIDR ranges separated by commas',
  });
  return z.NEVER;
});
export type ProxyTrust = z.infer<typeof ProxyTrust>;
