import { Resolver } from 'node:dns/promises';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';

/** Resolves a host name to all its addresses. Rejects if it has none. */
export type Resolve = (hostname: string) => Promise<string[]>;

/** Name resolution, and the addresses that may be connected to. */
export interface Route {
  resolve: Resolve;
  allowed: (address: string) => boolean;
}

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

/** Where a connection leads: a URL's protocol, host and port. */
type Target = Pick<URL, 'hostname' | 'port' | 'protocol'>;

/** Opens a single connection, and reports how far it came. */
export interface Dial {
  /**
   * Resolves a host name. All its addresses are checked before a socket is made.
   * @throws BlockedAddressError if one of them is forbidden
   */
  resolve: (hostname: string) => Promise<string[]>;
  /** Opens a connection to one of these addresses. */
  open: (addresses: readonly string[], target: Target) => Promise<Socket>;
  /** Uses an open connection to a checked address instead. */
  reuse: (socket: Socket) => void;
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
/** The error of a connection that is closed because its attempt is over. */
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

const addressOf = ({ remoteAddress = '', remotePort }: Socket): string =>
  isIP(remoteAddress) === 6 ? `[${remoteAddress}]:${remotePort}` : `${remoteAddress}:${remotePort}`;

/**
 * Makes what TLS connections trust. To make it takes an eighth of a handshake, so one serves all connections.
 * @param ca the certificate authority to trust instead of those of the system
 */
export const trusting = (ca: string | undefined): SecureContext =>
  createSecureContext(ca === undefined ? {} : { ca });

/**
 * Connects only to addresses that `route` allows. All addresses of a host are checked before a socket is made; one forbidden
 * address refuses the host. The remote address is checked again before a byte is sent.
 */
export function createDial({ resolve, allowed }: Route, secureContext: SecureContext): Dial {
  let phase: Phase = 'dns';
  let address: string | undefined;
  let socket: Socket | undefined;
  let secure: TLSSocket | undefined;
  let closed = false;

  async function resolveAllowed(hostname: string): Promise<string[]> {
    const addresses = isIP(hostname) ? [hostname] : await resolve(hostname);
    const forbidden = addresses.find((candidate) => !allowed(candidate));
    if (forbidden !== undefined) throw new BlockedAddressError(hostname, forbidden);
    if (addresses.length === 0) throw new Error(`${hostname} has no address`);
    if (closed) throw new Error('closed while its name was resolved');
    return addresses;
  }

  /**
   * Opens a TCP connection to one of the checked addresses. Checks the remote address as well, so that nothing is sent to a
   * forbidden one even if the connection ignores the list.
   */
  function openTcp(addresses: readonly string[], { hostname, port, protocol }: Target) {
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
        const { remoteAddress = '' } = tcp;
        if (!allowed(remoteAddress)) {
          tcp.destroy(new BlockedAddressError(hostname, remoteAddress));
          return;
        }
        address = addressOf(tcp);
        done(tcp);
      });
    });
  }

  function openTls(tcp: Socket, hostname: string) {
    return new Promise<TLSSocket>((done, fail) => {
      phase = 'tls';
      const tlsSocket = connectTls({
        secureContext,
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

  return {
    resolve: resolveAllowed,
    async open(addresses, target) {
      const tcp = await openTcp(addresses, target);
      const connection = target.protocol === 'https:' ? await openTls(tcp, target.hostname) : tcp;
      phase = 'response';
      return connection;
    },
    reuse(connection) {
      phase = 'response';
      address = addressOf(connection);
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
