import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A proxy before a local port, whose connections a test can break. The caller stops it. */
export async function startTcpProxy(target: number) {
  const sockets = new Set<Socket>();
  let hanging = false;

  function forward(from: Socket): void {
    const to = connect(target, '127.0.0.1');
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.on('data', (data) => {
        if (!hanging) other.write(data);
      });
    }
  }

  async function listen(port: number): Promise<Server> {
    const server = createServer(forward).listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  }
  const drop = () => {
    for (const socket of sockets) socket.destroy();
  };

  let server = await listen(0);
  const { port } = server.address() as { port: number };

  return {
    port,
    /** Breaks every connection and refuses new ones. */
    async cut(): Promise<void> {
      server.close();
      drop();
      if (server.listening) await once(server, 'close');
    },
    /** Accepts and keeps connections but forwards nothing, like a network that drops packets. */
    async hang(): Promise<void> {
      hanging = true;
    },
    async restore(): Promise<void> {
      // Dropped data is lost, so connections that missed data are closed.
      if (hanging) drop();
      hanging = false;
      if (!server.listening) server = await listen(port);
    },
    async stop(): Promise<void> {
      server.close();
      drop();
    },
  };
}
