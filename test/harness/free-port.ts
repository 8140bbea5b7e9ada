import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** A range below the ports of outgoing connections, because such a connection could take the port before a server listens. */
const [lowest, highest] = [10_100, 32_000];
/** Each worker of vitest takes its ports from its own part of the range, so that two never find the same one. */
const parts = 8;
const size = Math.floor((highest - lowest) / parts);

/** The place in the part from which the next port is tried. A port comes again only after all others of the part. */
let next = randomInt(size);

/** Finds a port of 127.0.0.1 on which no server listens. */
export async function freePort(): Promise<number> {
  const part = Number(process.env['VITEST_POOL_ID'] ?? 0) % parts;
  const port = lowest + size * part + (next++ % size);
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return freePort();
    throw error;
  }
  server.close();
  await once(server, 'close');
  return port;
}
