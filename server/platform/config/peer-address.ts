import { isIP } from 'node:net';
import { z } from 'zod';

/** The address of a private listener. Without a host: the machine's own address. Port 0: any free port. */
export interface PeerAddress {
  host?: string;
  port: number;
}

/** Matches `[IPv6]` or a name or IPv4 address, each with or without a port. */
const form = /^(?:\[([^\]]+)\]|([^:[\]\s/]+))(?::(\d{1,5}))?$/;

function read(text: string): PeerAddress | undefined {
  if (isIP(text) === 6) return { host: text, port: 0 };
  const [, v6, name, digits = '0'] = form.exec(text) ?? [];
  const host = v6 ?? name;
  const port = Number(digits);
  if (host === undefined || port > 65_535 || (v6 !== undefined && isIP(v6) !== 6)) return undefined;
  return { host, port };
}

/** Parses `host`, `host:port`, `[IPv6]:port` or `off`. */
export const PeerAddress: z.ZodType<PeerAddress | 'off', string> = z.string().transform((text, context) => {
  const address = text === 'off' ? 'off' : read(text);
  if (address) return address;
  context.addIssue({
    code: 'custom',
    message: 'expected off, an address such as 10.0.0.5, or one with a port',
  });
  return z.NEVER;
});
