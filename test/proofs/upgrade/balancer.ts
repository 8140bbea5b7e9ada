import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Starts a TCP load balancer on a free port. It asks `ports` at each connection for the ports of the servers. */
export async function startBalancer(ports: () => readonly number[]) {
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = createServer((client) => {
    const all = ports();
    turn += 1;
    const upstream = connect(all[turn % all.length] ?? 0, '127.0.0.1');
    client.pipe(upstream).pipe(client);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy()).on('close', () => sockets.delete(socket));
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close(): void {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
