import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';

/**
 * The address of this machine in the network of `host`: the system's source address for a datagram to `host`. No
 * datagram is sent.
 * @throws if `host` cannot be resolved or has no route
 */
export async function addressTowards(host: string, port: number): Promise<string> {
  const { address, family } = await lookup(host);
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
  try {
    socket.connect(port, address);
    await once(socket, 'connect');
    return socket.address().address;
  } finally {
    socket.close();
  }
}
