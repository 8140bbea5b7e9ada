import type { Socket } from 'node:net';

/** How long a connection waits for the next request: less than the 5 s after which many servers close theirs. */
export const keptMs = 4_000;
/** The most connections to one address that wait. An endpoint has at most 5 attempts in flight. */
const mostKept = 5;

/** Gets what happens on a connection. */
interface User {
  data: (piece: Buffer) => void;
  /** The connection has ended, with or without an error. */
  ended: (error?: Error) => void;
}

/** An open connection to a receiver. It serves one request at a time, or waits for the next one. */
export interface Connection {
  readonly socket: Socket;
  user: User;
}

export function createConnection(socket: Socket): Connection {
  const connection: Connection = { socket, user: { data: () => undefined, ended: () => undefined } };
  socket.on('data', (piece: Buffer) => connection.user.data(piece));
  socket.on('error', (error) => connection.user.ended(error));
  socket.on('end', () => connection.user.ended());
  socket.on('close', () => connection.user.ended());
  socket.on('timeout', () => socket.destroy());
  return connection;
}

export type Connections = ReturnType<typeof createConnections>;

/**
 * Keeps connections for some seconds, so that a busy endpoint needs few TLS handshakes. Connections that are kept under one name
 * serve each other's requests.
 * @param kept milliseconds for which a connection waits for the next request
 */
export function createConnections(kept = keptMs) {
  const waiting = new Map<string, Connection[]>();

  function remove(name: string, connection: Connection): void {
    const others = (waiting.get(name) ?? []).filter((other) => other !== connection);
    if (others.length > 0) waiting.set(name, others);
    else waiting.delete(name);
  }

  return {
    kept,

    /** Takes the connection that was kept last. */
    take(name: string): Connection | undefined {
      const connection = waiting.get(name)?.at(-1);
      if (!connection) return undefined;
      remove(name, connection);
      connection.socket.setTimeout(0);
      connection.socket.ref();
      return connection;
    },

    /** Keeps a connection for `ms` milliseconds, unless enough of them wait. Meanwhile it does not keep the process running. */
    keep(name: string, connection: Connection, ms: number): void {
      const { socket } = connection;
      const others = waiting.get(name) ?? [];
      if (socket.destroyed || others.length >= mostKept) {
        socket.destroy();
        return;
      }
      waiting.set(name, [...others, connection]);
      socket.setTimeout(ms);
      socket.unref();
      connection.user = {
        // What arrives before the next request is no answer to it (RFC 9112, section 9.2).
        data: () => socket.destroy(),
        ended: () => remove(name, connection),
      };
    },
  };
}
