import { isIP } from 'node:net';
import { z } from 'zod';

/** The address of a private listener. Without a host: the machine's own address. */
export interface PeerAddress {
  host?: string;
  port: number;
}

/** Matches `[IPv6]` or a name or IPv4 address, each with or without a port. */
const form = /^(?:\[(?<ipv6>[^\]]+)\]|(?<name>[^:[\]\s/]+))(?::(?<digits>\d{1,5}))?$/;
/** The port number with which the system chooses a free port. */
export const anyFreePort = 0;

function parseAddress(text: string): PeerAddress | undefined {
  // Without brackets, a colon could not be told from that of a port. So an IPv6 address has no port then.
  if (isIP(text) === 6) return { host: text, port: anyFreePort };
  const { ipv6, name, digits } = form.exec(text)?.groups ?? {};
  if (ipv6 !== undefined && isIP(ipv6) !== 6) return undefined;
  const host = ipv6 ?? name;
  const port = digits === undefined ? anyFreePort : Number(digits);
  if (host === undefined || port > 65_535) return undefined;
  return { host, port };
}

/** Parses `host`, `host:port`, `[IPv6]:port` or `off`. */
export const PeerAddress: z.ZodType<PeerAddress | 'off', string> = z.string().transform((text, context) => {
  const address = text === 'off' ? 'off' : parseAddress(text);
  if (address) return address;
  context.addIssue({
    code: 'custom',
    message: 'expected off, an address such as 10.0.0.5, or one with a port',
  });
  return z.NEVER;
});
