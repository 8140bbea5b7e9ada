import { Resolver } from 'node:dns/promises';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { buildConnector } from 'undici';

/** Resolves a host name to all its addresses. Rejects if it has none. */
export type Resolve = (hostname: string) => Promise<string[]>;

/** Name resolution, and the addresses that may be connected to. */
export interface Route {
  resolve: Resolve;
  allowed: (address: string) => boolean;
}

/** The phase that a connection has reached. */
export type Phase = 'dns' | 'connect' | 'tls' | 'response';

/** A host has an address that must not be connected to. Nothing was sent to it. */
export class BlockedAddressError extends Error {
  constructor(hostname: string, address: string) {
    super(
      hostname === address
        ? `${address} may not be dialled`
        : `${hostname} resolves to ${address}, which may not be dialled`,
    );
    this.name = 'BlockedAddressError';
  }
}

/** Opens a single connection, and reports how far it came. */
export interface Dial {
  connect: buildConnector.connector;
  phase: () => Phase;
  /** The remote address and port, once the connection is open. */
  address: () => string | undefined;
  close: () => void;
}

/**
 * Resolves names by DNS only, without the hosts file and search domains. Unlike the look-up of Node.js, it occupies no thread,
 * so slow names do not delay others.
 * @param servers `address:port`; default the system's
 */
export function createResolve(servers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: 3000, tries: 2 });
  if (servers) resolver.setServers(servers);
  return async (hostname) => {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const failure = answers.find((answer) => answer.status === 'rejected');
    if (addresses.length === 0 && failure) throw failure.reason;
    return addresses;
  };
}

/** Resolves `localhost` without DNS, so that no name server can change its meaning. */
export const resolveLocalhost: Resolve = () => Promise.resolve(['127.0.0.1', '::1']);

/** Time limit for a connection to one of several addresses, in milliseconds. It is enough for distant hosts. */
const connectTimeoutMs = 2500;
/** Connections are always destroyed with an error. Without an error, undici would treat a response as complete. */
const attemptOver = new Error('the attempt is over');

/** A look-up function for Node.js that returns only the checked addresses. */
function answerWith(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, options, callback) => {
    const [first] = all;
    if (options.all) callback(null, all);
    else callback(null, first?.address ?? '', first?.family);
  };
}

/**
 * A connector, of the type of undici's, that connects only to addresses that `route` allows. All addresses of a host are checked before a
 * socket is made; one forbidden address refuses the host. The remote address is checked again before a byte is sent.
 */
export function createDial({ resolve, allowed }: Route, tls: { ca?: string } = {}): Dial {
  let phase: Phase = 'dns';
  let address: string | undefined;
  let socket: Socket | undefined;
  let secure: TLSSocket | undefined;
  let closed = false;

  /** Resolves a host name. @throws BlockedAddressError if one of its addresses is forbidden */
  async function resolveAllowed(hostname: string): Promise<string[]> {
    const addresses = isIP(hostname) ? [hostname] : await resolve(hostname);
    const forbidden = addresses.find((candidate) => !allowed(candidate));
    if (forbidden !== undefined) throw new BlockedAddressError(hostname, forbidden);
    if (addresses.length === 0) throw new Error(`${hostname} has no address`);
    return addresses;
  }

  /**
   * Opens a TCP connection to one of the checked addresses. Checks the remote address as well, so that nothing is sent to a
   * forbidden one even if the connection ignores the list.
   */
  function openTcp(addresses: readonly string[], { hostname, port, protocol }: buildConnector.Options) {
    return new Promise<Socket>((done, fail) => {
      phase = 'connect';
      const tcp = connectTcp({
        host: hostname,
        port: Number(port || (protocol === 'https:' ? 443 : 80)),
        lookup: answerWith(addresses),
        autoSelectFamily: true,
        autoSelectFamilyAttemptTimeout: connectTimeoutMs,
        noDelay: true,
      });
      socket = tcp;
      tcp.on('error', fail);
      tcp.once('connect', () => {
        const { remoteAddress = '', remotePort } = tcp;
        if (!allowed(remoteAddress)) {
          tcp.destroy(new BlockedAddressError(hostname, remoteAddress));
          return;
        }
        address =
          isIP(remoteAddress) === 6 ? `[${remoteAddress}]:${remotePort}` : `${remoteAddress}:${remotePort}`;
        done(tcp);
      });
    });
  }

  /** Makes the TLS handshake over a TCP connection. */
  function openTls(tcp: Socket, hostname: string) {
    return new Promise<TLSSocket>((done, fail) => {
      phase = 'tls';
      const tlsSocket = connectTls({
        ...tls,
        socket: tcp,
        host: hostname,
        // The name for the server may not be an IP address (RFC 6066, section 3).
        servername: isIP(hostname) ? '' : hostname,
        // The client does not speak HTTP/2.
        ALPNProtocols: ['http/1.1'],
        rejectUnauthorized: true,
      });
      secure = tlsSocket;
      tcp.on('error', fail);
      tlsSocket.on('error', fail);
      tlsSocket.once('secureConnect', () => done(tlsSocket));
    });
  }

  async function open(addresses: readonly string[], options: buildConnector.Options): Promise<Socket> {
    const tcp = await openTcp(addresses, options);
    const connection = options.protocol === 'https:' ? await openTls(tcp, options.hostname) : tcp;
    phase = 'response';
    return connection;
  }

  return {
    connect(options, callback) {
      const connecting = async () => {
        const addresses = await resolveAllowed(options.hostname);
        if (closed) throw new Error('closed while its name was resolved');
        return open(addresses, options);
      };
      connecting().then(
        (connection) => callback(null, connection),
        (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
      );
    },
    phase: () => phase,
    address: () => address,
    close() {
      closed = true;
      secure?.destroy(attemptOver);
      socket?.destroy(attemptOver);
    },
  };
}
