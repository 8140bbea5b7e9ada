import type { AddressInfo } from 'node:net';
import { type Address, hostInUrl, listenFault } from '../platform/http/listen.ts';
import type { HttpServer } from '../platform/http/server.ts';

/** How long a stop waits for requests in progress, in milliseconds. */
const drainTimeoutMs = 8_000;

/** Opens a listener. @returns its URL and its port. @throws StartFault if the address cannot be used */
async function listen(app: HttpServer, address: Address): Promise<{ url: string; port: number }> {
  const { host, port } = address;
  await app.listen({ host, port }).catch((error: unknown) => {
    throw listenFault(error, address);
  });
  const { port: actual } = app.server.address() as AddressInfo;
  return { url: `http://${hostInUrl(host)}:${actual}`, port: actual };
}

/** Closes a listener after its requests have ended. Connections that take too long are closed. */
async function close(app: HttpServer): Promise<void> {
  const cutOff = setTimeout(() => app.server.closeAllConnections(), drainTimeoutMs);
  await app.close();
  clearTimeout(cutOff);
}

/**
 * The listeners of this process.
 * @param otherPorts further ports on localhost that no webhook may reach, such as those of the database
 */
export function createListeners(otherPorts: readonly number[]) {
  const opened: HttpServer[] = [];
  const ports = [...otherPorts];

  return {
    /** The ports on localhost that no webhook may reach: the given ones, and those of the listeners. */
    ports: (): readonly number[] => ports,

    /** Opens a listener. @returns its URL. @throws StartFault if the address cannot be used */
    async serve(app: Promise<HttpServer>, address: Address): Promise<string> {
      const server = await app;
      opened.push(server);
      const { url, port } = await listen(server, address);
      // A listener that is configured with port 0 has got another one.
      ports.push(port);
      return url;
    },

    /** Closes all listeners. Resolves when their requests have ended. */
    async close(): Promise<void> {
      await Promise.all(opened.map(close));
    },
  };
}
export type Listeners = ReturnType<typeof createListeners>;
