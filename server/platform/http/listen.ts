import { once } from 'node:events';
import { createServer } from 'node:net';

/** The address of a listener, and the names of the variables that set it. */
export interface Address {
  host: string;
  port: number;
  variables: { host: string; port: string };
}

/** Returns a host as it stands in a URL, where an IPv6 address is in brackets. */
export const hostInUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/** A failed start. The message tells the operator in one sentence what to do. */
export class StartFault extends Error {}

/** Explains a failed `listen` to the operator. Other errors are returned unchanged. */
export function listenFault(error: unknown, { host, port, variables }: Address): unknown {
  const options = error instanceof Error ? { cause: error } : {};
  const { code = '' } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'EADDRINUSE':
      return new StartFault(
        `Port ${port} on ${host} is taken: end the program that listens there, or set ${variables.port} to another port.`,
        options,
      );
    case 'EACCES':
      return new StartFault(
        `This process may not listen on port ${port}: set ${variables.port} to 1024 or more.`,
        options,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EINVAL': // a zone of IPv6 that the machine does not have
      return new StartFault(`${host} is not an address of this machine: correct ${variables.host}.`, options);
    default:
      return error;
  }
}

/**
 * Tests whether an address can be used, so that a start fails before it opens a database.
 * @throws StartFault if another program has the port, or the address cannot be used
 */
export async function requireFree(address: Address): Promise<void> {
  const { host, port } = address;
  const probe = createServer().listen({ host, port, exclusive: true });
  try {
    await once(probe, 'listening');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // A machine without IPv6 has no program at its loopback address.
    if (host === '::1' && ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(code)) return;
    throw listenFault(error, address);
  }
  probe.close();
  await once(probe, 'close');
}
